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
