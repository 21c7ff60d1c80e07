#if canImport(FoundationNetworking)
import Dispatch
import Foundation
import FoundationNetworking

/// A delegate queue for a `URLSession` with one task, on Linux. It runs each callback immediately, on the session's own thread.
///
/// On an ordinary queue, callbacks wait with their parts of the response while Foundation keeps reading and decompressing. A few kilobytes
/// of gzip can then fill gigabytes of memory before the first callback runs. Callbacks must not wait for the session: they must not call a
/// `URLSessionTask` synchronously.
///
/// Invariant that makes `@unchecked Sendable` safe: the only state is `held`, which is behind a lock.
final class InlineCallbackQueue: OperationQueue, @unchecked Sendable {
    /// The callbacks that wait for the end of a cancellation; `nil` if no cancellation is in progress.
    private let held = Locked<[@Sendable () -> Void]?>(nil)
    /// The maximum number of waiting callbacks. At most two callbacks follow the callback that ends the task, so any older callback carries
    /// data and can run. The limit prevents data from accumulating while the cancellation waits for the session's thread.
    private static let mostHeld = 8
    private let cancellations = DispatchQueue(label: "countersign.session.cancellations")

    override func addOperation(_ callback: @escaping @Sendable () -> Void) {
        let next = held.withLock { held -> (@Sendable () -> Void)? in
            guard var waiting = held else { return callback }
            waiting.append(callback)
            let oldest = waiting.count > Self.mostHeld ? waiting.removeFirst() : nil
            held = waiting
            return oldest
        }
        next?()
    }

    /// Cancels a task and closes its connection. Returns immediately. `URLSessionTask.cancel()` works in two steps. If the last callback of
    /// the response runs between the two steps, the second step finds no task and Foundation ends the process. Therefore callbacks are
    /// delayed until the second step is done.
    func cancel(_ task: URLSessionTask) {
        cancellations.async { [self] in
            held.withLock { $0 = [] }
            task.cancel()
            // Waits for the second step, which runs on the task's serial queue like this getter.
            _ = task.priority
            while let callbacks = nextHeld() {
                for callback in callbacks { callback() }
            }
        }
    }

    /// Returns the callbacks that were delayed since the last call. If there are none, returns `nil`, and callbacks run immediately again.
    private func nextHeld() -> [@Sendable () -> Void]? {
        held.withLock { held in
            guard let callbacks = held, !callbacks.isEmpty else {
                held = nil
                return nil
            }
            held = []
            return callbacks
        }
    }
}
#endif
