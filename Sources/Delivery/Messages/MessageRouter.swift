/// Sends mails one way, and texts and calls another.
///
/// `Sendable`; safe from any task.
public struct MessageRouter: MessageSender {
    private let mail: (any MessageSender)?
    private let telephone: (any MessageSender)?

    /// Joins two senders, which are not shut down with it.
    ///
    /// - Parameters:
    ///   - mail: Sends mails; nil refuses them.
    ///   - telephone: Sends texts and calls; nil refuses them.
    public init(mail: (any MessageSender)?, telephone: (any MessageSender)?) {
        self.mail = mail
        self.telephone = telephone
    }

    /// Sends a message by the sender of its kind.
    ///
    /// - Parameter message: What to send, and to whom.
    /// - Returns: How it ended.
    public func send(_ message: Message) async -> MessageOutcome {
        switch message {
        case .mail: await mail?.send(message) ?? .refused(reason: "no mail server is configured")
        case .telephone: await telephone?.send(message) ?? .refused(reason: "no telephony hook is configured")
        }
    }
}
