internal import Foundation
internal import JOSE

/// The SMTP dialog for one mail (RFC 5321, RFC 3207, RFC 4954): a pure state machine that receives replies and returns the next action. It
/// sends no secret and no mail before the connection is encrypted, unless the configuration allows an unencrypted connection.
struct SMTPExchange: Sendable, Redacted {
    /// The action after a reply.
    enum Action: Sendable, Equatable {
        /// Sends a text.
        case send(String)
        /// Encrypts the connection, then sends a text.
        case startTLS(thenSend: String)
        /// Ends the exchange. The text is sent before the connection is closed; `nil` for none.
        case end(Ending, sending: String?)
    }

    enum Ending: Sendable, Equatable {
        /// The server accepted the mail.
        case accepted
        /// The server permanently refused the mail.
        case refused(String)
        /// A temporary failure. A later attempt may succeed.
        case retry(String)
        /// The mail was sent, but no reply arrived. A retry could deliver the mail twice.
        case unanswered
    }

    private enum State: Sendable, Equatable {
        case greeting, hello, startTLS, plain, loginName, loginUser, loginPassword, sender, recipient, data, body, over
    }

    private let name: String
    private let credentials: SMTPConfiguration.Credentials?
    private let needsTLS: Bool
    private let envelope: (sender: String, recipient: String)
    private let message: String
    private var isEncrypted: Bool
    private var state = State.greeting

    /// Starts an exchange on a new connection. `message` is the mail in its wire format.
    init(_ configuration: SMTPConfiguration, sender: String, recipient: String, message: String) {
        name = configuration.clientName
        credentials = configuration.credentials
        needsTLS = configuration.security == .startTLS
        isEncrypted = configuration.security == .implicitTLS
        envelope = (sender, recipient)
        self.message = message
    }

    /// Processes a reply and returns the next action.
    mutating func received(_ reply: SMTPReply) -> Action {
        if state == .over { return .end(.refused("a reply after the end"), sending: nil) }
        // Code 421: the server closes the connection, whatever the command was.
        if reply.code == 421 { return end(state == .body ? .unanswered : .retry("421"), sending: nil) }
        switch (state, reply.code) {
        case (.greeting, 220): return go(to: .hello, sending: "EHLO \(name)\r\n")
        case (.hello, 250): return greeted(reply)
        case (.startTLS, 220):
            isEncrypted = true
            state = .hello
            // Only the capabilities after the encryption count, because an attacker can change the earlier ones.
            return .startTLS(thenSend: "EHLO \(name)\r\n")
        case (.plain, 235), (.loginPassword, 235): return beginMail()
        case (.loginName, 334): return go(to: .loginUser, sending: Self.base64(credentials?.user ?? "") + "\r\n")
        case (.loginUser, 334): return go(to: .loginPassword, sending: Self.base64(credentials?.password ?? "") + "\r\n")
        case (.sender, 250): return go(to: .recipient, sending: "RCPT TO:<\(envelope.recipient)>\r\n")
        case (.recipient, 250), (.recipient, 251): return go(to: .data, sending: "DATA\r\n")
        case (.data, 354): return go(to: .body, sending: Self.stuffed(message) + ".\r\n")
        case (.body, 250): return end(.accepted, sending: "QUIT\r\n")
        default: return failed(reply.code)
        }
    }

    /// Records that the connection closed, and returns the outcome.
    mutating func disconnected() -> Ending {
        defer { state = .over }
        return state == .body ? .unanswered : .retry("the connection ended")
    }

    private mutating func greeted(_ reply: SMTPReply) -> Action {
        let offers = reply.lines.dropFirst().map { $0.uppercased().split(separator: " ").map(String.init) }
        if needsTLS && !isEncrypted {
            // Without STARTTLS in the reply, the server does not support it, or an attacker removed it.
            guard offers.contains(where: { $0.first == "STARTTLS" }) else {
                return end(.refused("the server offers no STARTTLS"), sending: "QUIT\r\n")
            }
            return go(to: .startTLS, sending: "STARTTLS\r\n")
        }
        guard let credentials else { return beginMail() }
        let mechanisms = offers.first { $0.first == "AUTH" }.map { Set($0.dropFirst()) } ?? []
        if mechanisms.contains("PLAIN") {
            return go(to: .plain, sending: "AUTH PLAIN \(Self.base64("\u{0}\(credentials.user)\u{0}\(credentials.password)"))\r\n")
        }
        if mechanisms.contains("LOGIN") { return go(to: .loginName, sending: "AUTH LOGIN\r\n") }
        return end(.refused("the server offers neither AUTH PLAIN nor AUTH LOGIN"), sending: "QUIT\r\n")
    }

    private mutating func beginMail() -> Action { go(to: .sender, sending: "MAIL FROM:<\(envelope.sender)>\r\n") }

    /// Ends the exchange without repeating the server's text, which may contain the address.
    private mutating func failed(_ code: Int) -> Action {
        let step = "\(state)"
        return end((400..<500).contains(code) ? .retry("\(code) at \(step)") : .refused("\(code) at \(step)"), sending: "QUIT\r\n")
    }

    private mutating func go(to next: State, sending text: String) -> Action {
        state = next
        return .send(text)
    }

    private mutating func end(_ ending: Ending, sending text: String?) -> Action {
        state = .over
        return .end(ending, sending: text)
    }

    private static func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }

    /// Doubles a dot at the beginning of a line (RFC 5321 section 4.5.2), and ends the mail with a line break.
    static func stuffed(_ message: String) -> String {
        let lines = message.replacing("\r\n.", with: "\r\n..")
        return (lines.hasPrefix(".") ? "." : "") + lines + (lines.hasSuffix("\r\n") ? "" : "\r\n")
    }
}
