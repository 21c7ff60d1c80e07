package import Foundation

/// Why a code is not sent, or a telephone or mailbox not set up. Front doors spell it.
package enum CodeRefusal: Error, Sendable, Equatable {
    /// Another message went there a moment ago; the next may follow then.
    case tooSoon(CodeChannel, until: Date)
    /// Too many messages, or too many wrong answers; the next may follow then.
    case tooMany(CodeChannel, until: Date)
    /// It is no telephone number with a calling code.
    case invalidNumber
    /// It is no extension.
    case invalidExtension
    /// Calls and texts to that country are not enabled.
    case foreignNumber
    /// Another number is set up; whoever replaces it must say so.
    case otherNumber
    /// No number was given, and none is set up.
    case noNumber
    /// The person has no address that mail can be sent to.
    case noAddress
    /// Nothing that waits to be confirmed has that id, or it waited too long.
    case notPending
    /// The code is wrong, or good no more.
    case wrongCode

    /// When it may be tried again; nil where waiting does not help.
    package var until: Date? {
        switch self {
        case .tooSoon(_, let until), .tooMany(_, let until): until
        default: nil
        }
    }

    /// Why, for the system log.
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
