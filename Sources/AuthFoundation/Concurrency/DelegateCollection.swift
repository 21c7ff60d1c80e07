/// A type that notifies any number of delegates.
public protocol UsesDelegateCollection {
    /// The type of the delegates.
    associatedtype Delegate

    /// The delegates, held weakly.
    var delegateCollection: DelegateCollection<Delegate> { get }

    /// Adds a delegate, held weakly.
    func add(delegate: Delegate)

    /// Removes a delegate.
    func remove(delegate: Delegate)
}

extension UsesDelegateCollection {
    /// Adds a delegate, held weakly.
    public func add(delegate: Delegate) { delegateCollection.add(delegate) }

    /// Removes a delegate.
    public func remove(delegate: Delegate) { delegateCollection.remove(delegate) }
}

/// A list of weakly held delegates, called in the order in which they were added. Safe from any thread or task. Delegates are called on the
/// caller's thread, never under a lock.
public final class DelegateCollection<D>: Sendable {
    private struct Weak {
        weak var object: AnyObject?
    }

    private let entries = Locked<[Weak]>([])

    /// Creates an empty collection.
    public init() {}

    /// Adds a delegate unless the collection contains it already.
    /// - Parameter delegate: An object, held weakly. A value that is not an object is released immediately.
    public func add(_ delegate: D) {
        let object = delegate as AnyObject
        entries.withLock { entries in
            entries.removeAll { $0.object == nil }
            if !entries.contains(where: { $0.object === object }) { entries.append(Weak(object: object)) }
        }
    }

    /// Removes a delegate if the collection contains it.
    public func remove(_ delegate: D) {
        let object = delegate as AnyObject
        entries.withLock { entries in entries.removeAll { $0.object == nil || $0.object === object } }
    }

    /// Calls the block once for each living delegate.
    public func invoke(_ block: (D) -> Void) {
        for delegate in living { block(delegate) }
    }

    /// Calls the block once for each living delegate and returns the results in the order of the delegates.
    @discardableResult
    public func call<T>(_ block: (D) -> T) -> [T] {
        living.map(block)
    }

    private var living: [D] {
        entries.withLock { entries in entries.compactMap { $0.object as? D } }
    }
}

/// Runs an async call for callers that use completion handlers.
package enum Completion {
    /// Calls `completion` once, on an unspecified thread.
    package static func run<Value: Sendable>(
        _ completion: @escaping @Sendable (Result<Value, OAuth2Error>) -> Void, operation: @escaping @Sendable () async throws -> Value
    ) {
        Task {
            completion(await Result(of: operation).mapError { OAuth2Error($0) })
        }
    }
}
