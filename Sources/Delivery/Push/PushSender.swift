/// Brings pushes to devices.
public protocol PushSender: Sendable {
    /// Sends one push, and tries again as long as that makes sense.
    ///
    /// Returns at the latest when the push expires, and soon after the task was cancelled. Safe from any task, many at once.
    ///
    /// - Parameter notification: What to send, and to whom.
    /// - Returns: How it ended.
    func send(_ notification: PushNotification) async -> PushOutcome
}
