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
    /// The calling thread waits for whoever is on the actor, which holds it for memory and local file work only, never over an `await`.
    package static func synchronously<T: Sendable>(_ body: @CredentialActor () throws -> T) rethrows -> T {
        typealias Unisolated = () throws -> T
        return try shared.executor.withLock {
            // The isolation that the cast takes away is what the lock gives: no job of the actor runs while this thread holds it.
            try withoutActuallyEscaping(body) { try unsafeBitCast($0, to: Unisolated.self)() }
        }
    }
}
