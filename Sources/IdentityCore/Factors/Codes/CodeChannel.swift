internal import Foundation
internal import JOSE

/// The channel by which a code is sent.
package enum CodeChannel: String, Sendable, Hashable, Codable, CaseIterable {
    case sms
    /// A call that reads the code aloud.
    case voice
    case email

    package var factor: FactorKind {
        switch self {
        case .sms: .sms
        case .voice: .voice
        case .email: .email
        }
    }

    /// Minimum seconds between two messages to one number or address (Documentation/Protocol/Authn.md §6.2).
    var pause: TimeInterval { self == .email ? 5 : 30 }

    /// The `amr` value (Documentation/Protocol/OAuth.md §4.2).
    package var method: String {
        switch self {
        case .sms: "sms"
        case .voice: "tel"
        case .email: "email"
        }
    }
}

/// The destination of a code: a phone number or a mail address.
package struct CodeDestination: Sendable, Equatable, Codable {
    /// The phone number; `nil` for mail.
    package var phoneNumber: PhoneNumber?
    /// The extension to dial after the call is answered, at most 15 digits; `nil` for none.
    package var phoneExtension: String?
    /// The mail address; `nil` for a phone.
    package var mailAddress: MailAddress?

    package init(_ number: PhoneNumber, phoneExtension: String? = nil) {
        phoneNumber = number
        self.phoneExtension = phoneExtension
    }

    package init(_ address: MailAddress) {
        mailAddress = address
    }

    /// The masked form, which may be displayed to any caller.
    package var masked: String { phoneNumber?.masked ?? mailAddress?.masked ?? "" }

    /// The destination's key for limits: the whole number or address.
    var key: String { phoneNumber?.e164 ?? mailAddress?.text.lowercased() ?? "" }

    /// Whether a text is an extension: 1 to 15 digits.
    static func isExtension(_ text: String) -> Bool {
        (1...15).contains(text.utf8.count) && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}

extension CodeDestination: Redacted {
    package var description: String { masked }
}
