/// The name of a claim of a JSON Web Token: registered with IANA, defined by OpenID Connect, or specific to the issuer. Unknown names are
/// ``custom(_:)``.
public enum JWTClaim: Codable, Sendable {
    /// `iss`.
    case issuer
    /// `sub`.
    case subject
    /// `aud`.
    case audience
    /// `exp`.
    case expirationTime
    /// `nbf`.
    case notBefore
    /// `iat`.
    case issuedAt
    /// `jti`.
    case jwtId
    /// `ver`.
    case version
    /// `uid`.
    case userId
    /// `idp`.
    case identityProvider
    /// `cid`.
    case clientId
    /// `scp`.
    case scope
    /// `azp`.
    case authorizedParty
    /// `nonce`.
    case nonce
    /// `auth_time`.
    case authTime
    /// `at_hash`.
    case accessTokenHash
    /// `c_hash`.
    case codeHash
    /// `sid`.
    case sessionId
    /// `acr`.
    case authContextClassReference
    /// `amr`.
    case authMethodsReference
    /// `cnf`.
    case confirmation
    /// `name`.
    case name
    /// `given_name`.
    case givenName
    /// `family_name`.
    case familyName
    /// `middle_name`.
    case middleName
    /// `nickname`.
    case nickname
    /// `preferred_username`.
    case preferredUsername
    /// `profile`.
    case profile
    /// `picture`.
    case picture
    /// `website`.
    case website
    /// `email`.
    case email
    /// `email_verified`.
    case emailVerified
    /// `gender`.
    case gender
    /// `birthdate`.
    case birthdate
    /// `zoneinfo`.
    case zoneinfo
    /// `locale`.
    case locale
    /// `phone_number`.
    case phoneNumber
    /// `phone_number_verified`.
    case phoneNumberVerified
    /// `address`.
    case address
    /// `updated_at`.
    case updatedAt
    /// `groups`.
    case groups
    /// `roles`.
    case roles
    /// `entitlements`.
    case entitlements
    /// `act`.
    case actor
    /// `may_act`.
    case authorizedActor
    /// `events`.
    case events
    /// `toe`.
    case timeOfEvent
    /// `txn`.
    case transactionId
    /// `sub_jwk`.
    case subjectPublicKey
    /// `exi`.
    case expiresIn
    /// `cnonce`.
    case clientNonce
    /// `token_introspection`.
    case tokenIntrospection
    /// `nonce_supported`.
    case nonceSupported
    /// `real_user_status`.
    case realUserStatus
    /// `is_private_email`.
    case isPrivateEmail
    /// `transfer_sub`.
    case transferSubject
    /// `ace_profile`.
    case aceProfile
    /// `vot`.
    case vectorOfTrust
    /// `vtm`.
    case vectorOfTrustMark
    /// `at_use_nbr`.
    case maxAPIRequestCount
    /// `vc`.
    case verifiableCredential
    /// `vp`.
    case verifiablePresentation
    /// `sip_from_tag`.
    case sipFromTag
    /// `sip_date`.
    case sipDate
    /// `sip_callid`.
    case sipCallId
    /// `sip_cseq_num`.
    case sipCSeqNum
    /// `sip_via_branch`.
    case sipViaBranch
    /// `orig`.
    case originatingIdentity
    /// `dest`.
    case destinationIdentity
    /// `mky`.
    case mediaKeyFingerprint
    /// `rph`.
    case resourcePriorityHeader
    /// `attest`.
    case attestationLevel
    /// `origid`.
    case originatingId
    /// `jcard`.
    case jcardData
    /// `div`.
    case divertedTarget
    /// `opt`.
    case originalPassport
    /// `sph`.
    case sipPriorityHeader
    /// Any other claim, identified by name.
    case custom(_ name: String)

    private static let standard: [JWTClaim] = [
        .issuer, .subject, .audience, .expirationTime, .notBefore, .issuedAt, .jwtId, .version, .userId, .identityProvider, .clientId,
        .scope, .authorizedParty, .nonce, .authTime, .accessTokenHash, .codeHash, .sessionId, .authContextClassReference,
        .authMethodsReference, .confirmation, .name, .givenName, .familyName, .middleName, .nickname, .preferredUsername, .profile,
        .picture, .website, .email, .emailVerified, .gender, .birthdate, .zoneinfo, .locale, .phoneNumber, .phoneNumberVerified,
        .address, .updatedAt, .groups, .roles, .entitlements, .actor, .authorizedActor, .events, .timeOfEvent, .transactionId,
        .subjectPublicKey, .expiresIn, .clientNonce, .tokenIntrospection, .nonceSupported, .realUserStatus, .isPrivateEmail,
        .transferSubject, .aceProfile, .vectorOfTrust, .vectorOfTrustMark, .maxAPIRequestCount, .verifiableCredential,
        .verifiablePresentation, .sipFromTag, .sipDate, .sipCallId, .sipCSeqNum, .sipViaBranch, .originatingIdentity,
        .destinationIdentity, .mediaKeyFingerprint, .resourcePriorityHeader, .attestationLevel, .originatingId, .jcardData,
        .divertedTarget, .originalPassport, .sipPriorityHeader,
    ]

    private static let claimsByName = Dictionary(uniqueKeysWithValues: standard.map { ($0.rawValue, $0) })

    init(name: String) {
        self = Self.claimsByName[name] ?? .custom(name)
    }

    var isCustom: Bool {
        if case .custom = self { true } else { false }
    }
}

extension JWTClaim: IsClaim, ClaimConvertable {
    /// Creates the claim with this name, or ``custom(_:)`` if the name is unknown.
    public init?(rawValue: String) {
        self.init(name: rawValue)
    }

    /// The claim's name.
    public var rawValue: String {
        // A switch, because a dictionary with claims as keys would call `rawValue` to hash its keys.
        switch self {
        case .issuer: "iss"
        case .subject: "sub"
        case .audience: "aud"
        case .expirationTime: "exp"
        case .notBefore: "nbf"
        case .issuedAt: "iat"
        case .jwtId: "jti"
        case .version: "ver"
        case .userId: "uid"
        case .identityProvider: "idp"
        case .clientId: "cid"
        case .scope: "scp"
        case .authorizedParty: "azp"
        case .nonce: "nonce"
        case .authTime: "auth_time"
        case .accessTokenHash: "at_hash"
        case .codeHash: "c_hash"
        case .sessionId: "sid"
        case .authContextClassReference: "acr"
        case .authMethodsReference: "amr"
        case .confirmation: "cnf"
        case .name: "name"
        case .givenName: "given_name"
        case .familyName: "family_name"
        case .middleName: "middle_name"
        case .nickname: "nickname"
        case .preferredUsername: "preferred_username"
        case .profile: "profile"
        case .picture: "picture"
        case .website: "website"
        case .email: "email"
        case .emailVerified: "email_verified"
        case .gender: "gender"
        case .birthdate: "birthdate"
        case .zoneinfo: "zoneinfo"
        case .locale: "locale"
        case .phoneNumber: "phone_number"
        case .phoneNumberVerified: "phone_number_verified"
        case .address: "address"
        case .updatedAt: "updated_at"
        case .groups: "groups"
        case .roles: "roles"
        case .entitlements: "entitlements"
        case .actor: "act"
        case .authorizedActor: "may_act"
        case .events: "events"
        case .timeOfEvent: "toe"
        case .transactionId: "txn"
        case .subjectPublicKey: "sub_jwk"
        case .expiresIn: "exi"
        case .clientNonce: "cnonce"
        case .tokenIntrospection: "token_introspection"
        case .nonceSupported: "nonce_supported"
        case .realUserStatus: "real_user_status"
        case .isPrivateEmail: "is_private_email"
        case .transferSubject: "transfer_sub"
        case .aceProfile: "ace_profile"
        case .vectorOfTrust: "vot"
        case .vectorOfTrustMark: "vtm"
        case .maxAPIRequestCount: "at_use_nbr"
        case .verifiableCredential: "vc"
        case .verifiablePresentation: "vp"
        case .sipFromTag: "sip_from_tag"
        case .sipDate: "sip_date"
        case .sipCallId: "sip_callid"
        case .sipCSeqNum: "sip_cseq_num"
        case .sipViaBranch: "sip_via_branch"
        case .originatingIdentity: "orig"
        case .destinationIdentity: "dest"
        case .mediaKeyFingerprint: "mky"
        case .resourcePriorityHeader: "rph"
        case .attestationLevel: "attest"
        case .originatingId: "origid"
        case .jcardData: "jcard"
        case .divertedTarget: "div"
        case .originalPassport: "opt"
        case .sipPriorityHeader: "sph"
        case .custom(let name): name
        }
    }

    /// Whether the two claims have the same name.
    public static func == (lhs: JWTClaim, rhs: JWTClaim) -> Bool { lhs.rawValue == rhs.rawValue }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
}
