import Foundation

/// State behind one lock that is taken only for the length of a closure.
///
/// Under the lock compute, outside it act: a closure given to ``withLock(_:)`` never calls out, waits or resumes a continuation.
///
/// Invariant that makes `@unchecked Sendable` true: `value` is private and is touched only between `lock()` and `unlock()` of `lock`,
/// so no two threads ever see it at the same time. A value that is not `Sendable` must not leave the closure other than as a copy.
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
