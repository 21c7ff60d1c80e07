import Dispatch
import Foundation

/// Runs the jobs of ``CredentialActor`` one at a time, each under a lock that synchronous code may take as well.
///
/// The lock is recursive, so that code on the actor can call the synchronous interface. Jobs run on a queue of their own: a thread
/// that waits for the lock there is none of the few that all tasks share.
final class CredentialExecutor: SerialExecutor {
    private let lock = NSRecursiveLock()
    private let queue = DispatchQueue(label: "AuthFoundation.CredentialActor", qos: .userInitiated)
    /// How often the current thread holds the lock. Kept per thread, since the lock itself can't say whose it is.
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

/// A number that each thread has for itself, zero at first.
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

/// The actor that all stored credentials belong to.
///
/// Its executor is one lock: asynchronous code reaches it by `await` as any other actor, and the synchronous interface of
/// ``Credential`` takes the same lock on the caller's thread. So `Credential.default` works from the main actor, from any task, and from
/// code that is on this actor already, without waiting for a task anywhere.
@globalActor
public final actor CredentialActor {
    /// The one instance.
    public static let shared = CredentialActor()

    private nonisolated let executor = CredentialExecutor()

    private init() {}

    /// The executor: a lock that the caller's thread can take.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Runs isolated code at once, on the calling thread.
    ///
    /// The calling thread waits for the task that runs on the actor, which holds it for memory and local file work only, never over an `await`.
    package static func synchronously<T: Sendable>(_ body: @CredentialActor () throws -> T) rethrows -> T {
        typealias Unisolated = () throws -> T
        return try shared.executor.withLock {
            // The isolation that the cast takes away is what the lock gives: no job of the actor runs while this thread holds it.
            try withoutActuallyEscaping(body) { try unsafeBitCast($0, to: Unisolated.self)() }
        }
    }
}
