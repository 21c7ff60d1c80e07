import Foundation

/// A value behind one lock that is held only for the length of a closure.
///
/// `@unchecked Sendable`: `value` is read and written only between `lock()` and `unlock()` of the one private lock, and
/// the closure is synchronous, so no reference to it outlives the lock.
package final class Locked<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    package init(_ value: Value) {
        self.value = value
    }

    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
