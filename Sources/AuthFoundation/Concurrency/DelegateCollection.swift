/// Something that tells any number of delegates what it does.
public protocol UsesDelegateCollection {
    /// The type of the delegates.
    associatedtype Delegate

    /// The delegates, weakly held.
    var delegateCollection: DelegateCollection<Delegate> { get }

    /// Adds a delegate, which is held weakly.
    func add(delegate: Delegate)

    /// Removes a delegate.
    func remove(delegate: Delegate)
}

extension UsesDelegateCollection {
    /// Adds a delegate, which is held weakly.
    public func add(delegate: Delegate) { delegateCollection.add(delegate) }

    /// Removes a delegate.
    public func remove(delegate: Delegate) { delegateCollection.remove(delegate) }
}

/// A list of delegates, each held weakly and called in the order in which they were added.
///
/// Safe from any thread or task. Delegates are called on the caller's thread, never under a lock.
public final class DelegateCollection<D>: Sendable {
    private struct Weak {
        weak var object: AnyObject?
    }

    private let entries = Locked<[Weak]>([])

    /// An empty collection.
    public init() {}

    /// Adds a delegate unless it is in the collection already.
    ///
    /// - Parameter delegate: An object; it is held weakly. A value that is no object is gone at once.
    public func add(_ delegate: D) {
        let object = delegate as AnyObject
        entries.withLock { entries in
            entries.removeAll { $0.object == nil }
            if !entries.contains(where: { $0.object === object }) { entries.append(Weak(object: object)) }
        }
    }

    /// Removes a delegate, if it is in the collection.
    ///
    /// - Parameter delegate: The object that was added.
    public func remove(_ delegate: D) {
        let object = delegate as AnyObject
        entries.withLock { entries in entries.removeAll { $0.object == nil || $0.object === object } }
    }

    /// Calls the block once for each delegate that is still alive.
    ///
    /// - Parameter block: What to do with a delegate.
    public func invoke(_ block: (D) -> Void) {
        for delegate in living { block(delegate) }
    }

    /// Calls the block once for each delegate that is still alive, and collects the answers.
    ///
    /// - Parameter block: What to ask a delegate.
    /// - Returns: The answers in the order of the delegates.
    @discardableResult
    public func call<T>(_ block: (D) -> T) -> [T] {
        living.map(block)
    }

    private var living: [D] {
        entries.withLock { entries in entries.compactMap { $0.object as? D } }
    }
}

/// Runs an asynchronous call for someone who wants to be called back.
package enum Completion {
    /// - Parameters:
    ///   - completion: Is called once, on no particular thread.
    ///   - operation: The call.
    package static func run<Value: Sendable>(
        _ completion: @escaping @Sendable (Result<Value, OAuth2Error>) -> Void, operation: @escaping @Sendable () async throws -> Value
    ) {
        Task {
            let result: Result<Value, OAuth2Error>
            do { result = .success(try await operation()) } catch { result = .failure(OAuth2Error(error)) }
            completion(result)
        }
    }
}
