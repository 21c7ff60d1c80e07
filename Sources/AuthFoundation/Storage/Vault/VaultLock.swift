import Dispatch
import Foundation

/// An exclusive lock among processes. The system releases it when the process ends. Safe from any thread: the descriptor is closed only
/// once.
package final class VaultLock: RefreshLock {
    private let descriptor: Locked<Int32?>

    private init(descriptor: Int32) {
        self.descriptor = Locked(descriptor)
    }

    deinit { release() }

    /// Takes the lock, or returns `nil` if it is already taken.
    static func attempt(_ name: String, in folder: VaultFolder) throws -> VaultLock? {
        let path = folder.path(of: name)
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else {
            throw VaultError(
                .inaccessible, entry: name, "The lock \(path) can't be opened: \(String(cString: strerror(errno))).")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let failure = errno
            close(descriptor)
            if failure == EWOULDBLOCK || failure == EINTR { return nil }
            throw VaultError(.inaccessible, entry: name, "\(path) can't be locked: \(String(cString: strerror(failure))).")
        }
        return VaultLock(descriptor: descriptor)
    }

    /// Waits for the lock and blocks the calling thread, so the timeout must be short.
    package static func acquire(_ name: String, in folder: VaultFolder, timeout: Duration) throws -> VaultLock {
        let clock = ContinuousClock()
        let deadline = clock.now.advanced(by: timeout)
        var pause: UInt32 = 500
        while true {
            if let lock = try attempt(name, in: folder) { return lock }
            guard clock.now < deadline else {
                throw VaultError(
                    .busy, entry: name,
                    "Another process has kept the credentials in \(folder.path) locked for more than \(timeout). Try again, or end that process."
                )
            }
            // Blocking is acceptable because the caller's interface is synchronous and the deadline limits the wait.
            usleep(pause)
            pause = min(pause * 2, 20_000)
        }
    }

    /// The system keeps the lock until it is released.
    package func renew() -> Bool { true }

    package func release() {
        if let open = descriptor.exchange(nil) { close(open) }
    }
}
