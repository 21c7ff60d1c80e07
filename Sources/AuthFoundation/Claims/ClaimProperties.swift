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

    /// Whether the server has checked the mail address.
    public var emailVerified: Bool? { self[.emailVerified] }

    /// Whether the server has checked the telephone number.
    public var phoneNumberVerified: Bool? { self[.phoneNumberVerified] }

    /// When the profile was last changed.
    public var updatedAt: Date? { self[.updatedAt] }

    /// When the person last proved who they are.
    public var authTime: Date? { self[.authTime] }

    /// The postal address: `street_address`, `locality`, `region`, `postal_code`, `country`.
    public var address: [String: String]? { self[.address] }

    /// The time zone that `zoneinfo` names.
    public var timeZone: TimeZone? { zoneinfo.flatMap(TimeZone.init(identifier:)) }

    /// The locale that `locale` names.
    public var userLocale: Locale? { locale.map(Locale.init(identifier:)) }

    /// The assurance levels that the sign-in reached, from `acr`.
    public var authenticationClassReference: [String]? {
        if let list: [String] = self[.authContextClassReference] { return list }
        let text: String? = self[.authContextClassReference]
        return text?.whitespaceSeparated
    }

    /// How the person proved who they are, from `amr`; values that are not known are left out.
    public var authenticationMethods: [AuthenticationMethod]? { self[.authMethodsReference] }
}

/// A claim can't be read.
public enum ClaimError: Error, LocalizedError, Equatable, Sendable {
    /// A claim or member that is required is missing or of another type.
    case missingRequiredValue(key: String)

    /// What is missing.
    public var errorDescription: String? {
        switch self {
        case .missingRequiredValue(let key): "The value “\(key)” is required and is missing or of the wrong type."
        }
    }
}

/// A member of a server's answer is of another type than the protocol says.
///
/// It is thrown inside ``APIClientError/cannotParseResponse(error:)``.
public struct MistypedMemberError: Error, LocalizedError, Equatable, Sendable {
    /// The member's name.
    public let key: String

    /// What the protocol asks for.
    public let expected: String

    /// What the server sent instead, without the value.
    public let found: String

    /// What was expected and what was found.
    public var errorDescription: String? {
        "The server's answer is malformed: “\(key)” should be \(expected) but is \(found). Report it to whoever runs the server."
    }
}
