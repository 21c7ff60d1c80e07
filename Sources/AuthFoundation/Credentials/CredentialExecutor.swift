import Dispatch
import Foundation

/// The executor of ``CredentialActor``. It runs jobs one at a time, under a lock that synchronous code can also take. The lock is
/// recursive, so that code on the actor can call the synchronous interface. Jobs run on a separate queue, so that waiting for the lock does
/// not block a thread of the shared task pool.
final class CredentialExecutor: SerialExecutor {
    private let lock = NSRecursiveLock()
    private let queue = DispatchQueue(label: "AuthFoundation.CredentialActor", qos: .userInitiated)
    /// The number of times that the current thread holds the lock. Kept per thread, because the lock does not reveal its owner.
    private let depth = ThreadCounter()

    func withLock<T>(_ body: () throws -> T) rethrows -> T {
        lock.lock()
        depth.value += 1
        defer {
            depth.value -= 1
            lock.unlock()
        }
        return try body()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { [self] in
            withLock { job.runSynchronously(on: asUnownedSerialExecutor()) }
        }
    }

    func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }

    func checkIsolated() {
        precondition(depth.value > 0, "Code that belongs to CredentialActor runs elsewhere.")
    }

    func isIsolatingCurrentContext() -> Bool? {
        depth.value > 0
    }
}

/// A per-thread number, initially zero.
private final class ThreadCounter: Sendable {
    private let key: pthread_key_t

    init() {
        var key = pthread_key_t()
        let failure = pthread_key_create(&key, nil)
        precondition(failure == 0, "The process has no thread-specific keys left.")
        self.key = key
    }

    var value: Int {
        get { Int(bitPattern: pthread_getspecific(key)) }
        set { pthread_setspecific(key, UnsafeRawPointer(bitPattern: newValue)) }
    }
}

/// The actor that isolates all stored credentials. Its executor is a lock. Asynchronous code uses `await`; the synchronous interface of
/// ``Credential`` takes the lock on the caller's thread. Therefore `Credential.default` works from the main actor, from any task and from
/// this actor, without waiting for a task.
@globalActor
public final actor CredentialActor {
    /// The shared instance.
    public static let shared = CredentialActor()

    private nonisolated let executor = CredentialExecutor()

    private init() {}

    /// The executor. Its lock can also be taken by the caller's thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Runs a function on the actor.
    /// - Returns: The result of the function.
    /// - Throws: The errors of the function.
    public static func run<T: Sendable>(
        resultType: T.Type = T.self, body: @CredentialActor @Sendable () throws -> T
    ) async rethrows -> T {
        try await body()
    }

    /// Runs isolated code synchronously on the calling thread. The wait is short, because jobs on the actor hold the lock only for memory
    /// and local file work, never across an `await`.
    package static func synchronously<T: Sendable>(_ body: @CredentialActor () throws -> T) rethrows -> T {
        typealias Unisolated = () throws -> T
        return try shared.executor.withLock {
            // Removing the isolation is safe because the lock provides it: no job of the actor runs while this thread holds the lock.
            try withoutActuallyEscaping(body) { try unsafeBitCast($0, to: Unisolated.self)() }
        }
    }
}
