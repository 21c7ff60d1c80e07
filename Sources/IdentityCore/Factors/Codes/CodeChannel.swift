internal import Foundation
internal import JOSE

/// The way that a code takes to a person.
package enum CodeChannel: String, Sendable, Hashable, Codable, CaseIterable {
    /// A text message.
    case sms
    /// A call that reads it aloud.
    case voice
    /// A mail.
    case email

    /// The factor that it stands for.
    package var factor: FactorKind {
        switch self {
        case .sms: .sms
        case .voice: .voice
        case .email: .email
        }
    }

    /// Seconds between two messages to one number or address (authn reference 6.2).
    var pause: TimeInterval { self == .email ? 5 : 30 }

    /// What it adds to `amr` (oauth reference 4.2).
    package var method: String {
        switch self {
        case .sms: "sms"
        case .voice: "tel"
        case .email: "email"
        }
    }
}

/// Where a code is sent.
package struct CodeDestination: Sendable, Equatable, Codable {
    /// The number; nil for mail.
    package var phoneNumber: PhoneNumber?
    /// What is dialled after the call is taken, at most 15 digits; nil for none.
    package var phoneExtension: String?
    /// The address; nil for a telephone.
    package var mailAddress: MailAddress?

    /// A telephone.
    ///
    /// - Parameters:
    ///   - number: The number.
    ///   - phoneExtension: What is dialled after the call is taken.
    package init(_ number: PhoneNumber, phoneExtension: String? = nil) {
        phoneNumber = number
        self.phoneExtension = phoneExtension
    }

    /// A mailbox.
    ///
    /// - Parameter address: Its address.
    package init(_ address: MailAddress) {
        mailAddress = address
    }

    /// What anybody may see of it.
    package var masked: String { phoneNumber?.masked ?? mailAddress?.masked ?? "" }

    /// What limits are counted by: the whole number or address.
    var key: String { phoneNumber?.e164 ?? mailAddress?.text.lowercased() ?? "" }

    /// Whether a text is an extension: 1 to 15 digits.
    static func isExtension(_ text: String) -> Bool {
        (1...15).contains(text.utf8.count) && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}

extension CodeDestination: Redacted {
    /// The masked form.
    package var description: String { masked }
}
