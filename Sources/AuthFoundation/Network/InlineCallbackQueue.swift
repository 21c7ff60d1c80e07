#if canImport(FoundationNetworking)
import Dispatch
import Foundation
import FoundationNetworking

/// A delegate queue for a `URLSession` with one task, on Linux, that runs each callback at once, on the session's own thread.
///
/// On an ordinary queue the callbacks wait, each with its piece of the response, while Foundation keeps reading and decompressing: a few
/// kilobytes of gzip then fill gigabytes of memory before the first callback runs.
///
/// Callbacks must not wait for the session: no synchronous call of a `URLSessionTask` inside them.
///
/// Invariant that makes `@unchecked Sendable` true: the only state is `held`, which is behind a lock.
final class InlineCallbackQueue: OperationQueue, @unchecked Sendable {
    /// Callbacks that wait for the end of a cancellation; `nil` if none is under way.
    private let held = Locked<[@Sendable () -> Void]?>(nil)
    /// The maximum number of callbacks that wait. At most two callbacks follow the one that ends the task, so any older callback carries data
    /// and can run. Data must not pile up while the cancellation waits for the session's thread.
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

    /// Cancels a task and closes its connection; returns immediately.
    ///
    /// `URLSessionTask.cancel()` works in two steps. If the response ends between them and its last callback runs, the second step finds
    /// the task gone and Foundation stops the process. Callbacks are therefore held back until the second step is done.
    func cancel(_ task: URLSessionTask) {
        cancellations.async { [self] in
            held.withLock { $0 = [] }
            task.cancel()
            // Waits for the second step: both run on the task's serial queue, and so does this getter.
            _ = task.priority
            while let callbacks = nextHeld() {
                for callback in callbacks { callback() }
            }
        }
    }

    /// The callbacks that were held back since the last call; `nil` if there are none, and then callbacks run at once again.
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
