/// Brings pushes to devices.
public protocol PushSender: Sendable {
    /// Sends one push, and tries again as long as that makes sense.
    ///
    /// Returns soon after the push expired or the task was cancelled, at the latest. Safe from any task, many at once. Where an answer is
    /// lost on its way, the push may arrive twice, with the same id.
    ///
    /// - Parameter notification: What to send, and to whom.
    /// - Returns: How it ended.
    func send(_ notification: PushNotification) async -> PushOutcome
}
