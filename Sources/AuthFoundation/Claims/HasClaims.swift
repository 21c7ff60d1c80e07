public import Foundation

/// The name of a claim.
public protocol IsClaim: Hashable, RawRepresentable<String>, Sendable {}

/// A type with claims, such as a JSON Web Token, a profile or server metadata.
public protocol HasClaims {
    /// The type of the known claim names.
    associatedtype ClaimType: IsClaim

    /// The claim values by name: `String`, `Bool`, `Int`, `Double`, and arrays and dictionaries of these.
    var payload: [String: any Sendable] { get }

    /// The known claims that are present.
    var claims: [ClaimType] { get }

    /// The names of the unknown claims that are present.
    var customClaims: [String] { get }

    /// The names of all claims that are present.
    var allClaims: [String] { get }
}

extension HasClaims {
    /// The known claims that are present, sorted by name.
    public var claims: [ClaimType] { allClaims.compactMap(ClaimType.init(rawValue:)) }

    /// The names of the unknown claims that are present, sorted.
    public var customClaims: [String] { allClaims.filter { ClaimType(rawValue: $0) == nil } }

    /// The names of all claims that are present, sorted.
    public var allClaims: [String] { payload.keys.sorted() }
}

extension HasClaims where ClaimType == JWTClaim {
    /// The known claims that are present, sorted by name.
    public var claims: [JWTClaim] { allClaims.map(JWTClaim.init(name:)).filter { !$0.isCustom } }

    /// The names of the unknown claims that are present, sorted.
    public var customClaims: [String] { allClaims.filter { JWTClaim(name: $0).isCustom } }
}

/// A type that is decoded from JSON with its own decoder.
public protocol JSONDecodable {
    /// The decoder.
    static var jsonDecoder: JSONDecoder { get }
}

extension JSONDecodable {
    /// A decoder with default settings.
    public static var jsonDecoder: JSONDecoder { JSONDecoder() }
}

extension JSONDecodable where Self: Decodable {
    /// Decodes a value with the type's decoder.
    /// - Parameter userInfo: Values for the type's decoding, in addition to the decoder's own.
    /// - Throws: `DecodingError`, and the errors of the type.
    public init(_ data: Data, userInfo: [CodingUserInfoKey: any Sendable]? = nil) throws {
        let decoder = Self.jsonDecoder
        decoder.userInfo.merge(userInfo ?? [:]) { $1 }
        self = try decoder.decode(Self.self, from: data)
    }
}

extension CodingUserInfoKey {
    // swift-format-ignore: NeverForceUnwrap
    /// The settings of the API client.
    public static let apiClientConfiguration = CodingUserInfoKey(rawValue: "apiClientConfiguration")!
    // swift-format-ignore: NeverForceUnwrap
    /// The settings of the client that requested a token.
    public static let clientSettings = CodingUserInfoKey(rawValue: "clientSettings")!
    // swift-format-ignore: NeverForceUnwrap
    /// The context of a token.
    public static let tokenContext = CodingUserInfoKey(rawValue: "tokenContext")!
    // swift-format-ignore: NeverForceUnwrap
    /// The ID of a token.
    public static let tokenId = CodingUserInfoKey(rawValue: "tokenId")!
}

extension HasClaims where ClaimType == JWTClaim {
    /// The parts of the user's name, from the claims `given_name`, `middle_name`, `family_name` and `nickname`.
    public var nameComponents: PersonNameComponents {
        var components = PersonNameComponents()
        components.givenName = String.convert(from: payload["given_name"])
        components.middleName = String.convert(from: payload["middle_name"])
        components.familyName = String.convert(from: payload["family_name"])
        components.nickname = String.convert(from: payload["nickname"])
        return components
    }
}

/// A type whose claims are the members of a JSON object.
public protocol JSONClaimContainer: HasClaims, JSONDecodable {
    /// The object as received.
    var json: JSON { get }

    /// Creates a value from a JSON object.
    /// - Throws: ``ClaimError/missingRequiredValue(key:)`` if a required member is missing; ``MistypedMemberError`` if the value must be an
    ///   object and is not.
    init(_ json: JSON) throws
}

extension JSONClaimContainer {
    /// The values of the members by name.
    public var payload: [String: any Sendable] { json.claimPayload }
}

extension JSONClaimContainer where Self: Decodable {
    /// Decodes the object.
    /// - Throws: `DecodingError` if the input is not JSON, and the errors of ``init(_:)``.
    public init(from decoder: any Decoder) throws {
        try self.init(JSON(from: decoder))
    }
}

extension JSONClaimContainer where Self: Encodable {
    /// Encodes the object as received.
    public func encode(to encoder: any Encoder) throws {
        try json.encode(to: encoder)
    }
}

extension JSON {
    /// The members of an object as claims.
    var claimPayload: [String: any Sendable] {
        object?.compactMapValues(\.anyValue) ?? [:]
    }
}
