import Foundation

/// State behind a lock that is held only during a closure. The closure must only compute: it must not call other code, wait or resume a
/// continuation. Invariant that makes `@unchecked Sendable` safe: `value` is private and is accessed only between `lock()` and `unlock()`,
/// so threads cannot access it concurrently. A value that is not `Sendable` must leave the closure only as a copy.
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
