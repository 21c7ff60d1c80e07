public import Foundation

extension HasClaims where ClaimType == JWTClaim {
    /// The claim `sub`.
    public var subject: String? { self[.subject] }

    /// The claim `name`.
    public var name: String? { self[.name] }

    /// The claim `given_name`.
    public var givenName: String? { self[.givenName] }

    /// The claim `family_name`.
    public var familyName: String? { self[.familyName] }

    /// The claim `middle_name`.
    public var middleName: String? { self[.middleName] }

    /// The claim `nickname`.
    public var nickname: String? { self[.nickname] }

    /// The claim `preferred_username`.
    public var preferredUsername: String? { self[.preferredUsername] }

    /// The claim `profile`.
    public var profile: String? { self[.profile] }

    /// The claim `picture`.
    public var picture: String? { self[.picture] }

    /// The claim `website`.
    public var website: String? { self[.website] }

    /// The claim `email`.
    public var email: String? { self[.email] }

    /// The claim `phone_number`.
    public var phoneNumber: String? { self[.phoneNumber] }

    /// The claim `gender`.
    public var gender: String? { self[.gender] }

    /// The claim `birthdate`.
    public var birthdate: String? { self[.birthdate] }

    /// The claim `zoneinfo`.
    public var zoneinfo: String? { self[.zoneinfo] }

    /// The claim `locale`.
    public var locale: String? { self[.locale] }

    /// Whether the server has verified the email address; `nil` if the claim is missing.
    public var emailVerified: Bool? { self[.emailVerified] }

    /// Whether the server has verified the phone number; `nil` if the claim is missing.
    public var phoneNumberVerified: Bool? { self[.phoneNumberVerified] }

    /// The time of the last profile change.
    public var updatedAt: Date? { self[.updatedAt] }

    /// The time of the user's last authentication.
    public var authTime: Date? { self[.authTime] }

    /// The postal address: `street_address`, `locality`, `region`, `postal_code`, `country`.
    public var address: [String: String]? { self[.address] }

    /// The time zone that `zoneinfo` identifies; `nil` if the claim is missing or its value is unknown.
    public var timeZone: TimeZone? { zoneinfo.flatMap(TimeZone.init(identifier:)) }

    /// The locale that `locale` identifies; `nil` if the claim is missing.
    public var userLocale: Locale? { locale.map(Locale.init(identifier:)) }

    /// The assurance levels of the sign-in, from `acr`.
    public var authenticationClassReference: [String]? {
        if let list: [String] = self[.authContextClassReference] { return list }
        let text: String? = self[.authContextClassReference]
        return text?.whitespaceSeparated
    }

    /// The authentication methods of the sign-in, from `amr`. Unknown values are skipped.
    public var authenticationMethods: [AuthenticationMethod]? { self[.authMethodsReference] }
}

/// An error that occurs when reading a claim.
public enum ClaimError: Error, LocalizedError, CustomDebugStringConvertible, ClientError, Equatable, Sendable {
    /// A required claim or member is missing or has another type.
    case missingRequiredValue(key: String)

    /// A sentence for the user, in the user's language.
    public var errorDescription: String? { userText.description.text }

    /// The next step for the user, in the user's language; `nil` if there is none.
    public var recoverySuggestion: String? { userText.suggestion?.text }

    package var userText: ErrorText { .unexpectedAnswer }

    /// A description that names the missing value, for developers.
    public var debugDescription: String {
        switch self {
        case .missingRequiredValue(let key): "The value “\(key)” is required and is missing or of the wrong type."
        }
    }
}

extension JSONError: LocalizedError, CustomDebugStringConvertible, ClientError {
    /// A sentence for the user, in the user's language.
    public var errorDescription: String? { userText.description.text }

    /// The next step for the user, in the user's language.
    public var recoverySuggestion: String? { userText.suggestion?.text }

    package var userText: ErrorText { .somethingWrong }

    /// The reason, for developers.
    public var debugDescription: String {
        switch self {
        case .invalidJSONValue: "The value can't be written as JSON."
        case .invalidUTF8String: "The JSON text is not in UTF-8."
        case .unsupportedRootValue: "The JSON value must be an array or an object."
        }
    }
}

/// Reports that a member of a server response has another type than the protocol requires. ``APIClientError/cannotParseResponse(error:)``
/// wraps this error.
public struct MistypedMemberError: Error, LocalizedError, CustomDebugStringConvertible, ClientError, Equatable, Sendable {
    /// The name of the member.
    public let key: String

    /// The type that the protocol requires.
    public let expected: String

    /// The type that the server sent, without the value.
    public let found: String

    /// A sentence for the user, in the user's language.
    public var errorDescription: String? { userText.description.text }

    /// The next step for the user, in the user's language; `nil` if there is none.
    public var recoverySuggestion: String? { userText.suggestion?.text }

    package var userText: ErrorText { .unexpectedAnswer }

    /// A description of the expected and the actual type, for developers.
    public var debugDescription: String {
        "The server's answer is malformed: “\(key)” should be \(expected) but is \(found). Report it to the server's operator."
    }
}
