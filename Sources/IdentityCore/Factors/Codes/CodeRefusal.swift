package import Foundation

/// The reason why no code is sent, or why a phone or mailbox is not enrolled. Each endpoint encodes the reason in its protocol.
package enum CodeRefusal: Error, Sendable, Equatable {
    /// The previous message was sent too recently; the next may follow at `until`.
    case tooSoon(CodeChannel, until: Date)
    /// Too many messages or wrong answers; the next may follow at `until`.
    case tooMany(CodeChannel, until: Date)
    /// Not a phone number with a calling code.
    case invalidNumber
    /// Not a valid extension.
    case invalidExtension
    /// Calls and texts to the number's calling code are not enabled.
    case foreignNumber
    /// Another number is enrolled, and the request does not ask to replace it.
    case otherNumber
    /// The request contains no number, and none is enrolled.
    case noNumber
    /// The user has no mail address.
    case noAddress
    /// No pending enrollment has this id, or it has expired.
    case notPending
    /// The code is wrong, expired or consumed.
    case wrongCode

    /// The time of the earliest retry; `nil` if waiting does not help.
    package var until: Date? {
        switch self {
        case .tooSoon(_, let until), .tooMany(_, let until): until
        default: nil
        }
    }

    /// The reason for the system log.
    package var reason: String {
        switch self {
        case .tooSoon(let channel, _): "\(channel.rawValue): another message was sent a moment ago"
        case .tooMany(let channel, _): "\(channel.rawValue): too many messages, or wrong answers"
        case .invalidNumber: "no telephone number"
        case .invalidExtension: "no extension"
        case .foreignNumber: "calling code is not enabled"
        case .otherNumber: "another number is set up"
        case .noNumber: "no number"
        case .noAddress: "no mail address"
        case .notPending: "nothing pending"
        case .wrongCode: "wrong code"
        }
    }
}
