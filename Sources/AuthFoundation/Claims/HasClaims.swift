public import Foundation

/// The name of a claim.
public protocol IsClaim: Hashable, RawRepresentable<String>, Sendable {}

/// Something that has claims: a JSON Web Token, a profile, a server's metadata.
public protocol HasClaims {
    /// The names of the claims that are known by type.
    associatedtype ClaimType: IsClaim

    /// The claims' values by name: `String`, `Bool`, `Int`, `Double`, arrays and dictionaries of them.
    var payload: [String: any Sendable] { get }

    /// The known claims that are present.
    var claims: [ClaimType] { get }

    /// The names of the claims that are present and not known.
    var customClaims: [String] { get }

    /// The names of all claims that are present.
    var allClaims: [String] { get }
}

extension HasClaims {
    /// The known claims that are present, sorted by name.
    public var claims: [ClaimType] { allClaims.compactMap(ClaimType.init(rawValue:)) }

    /// The names of the claims that are present and not known, sorted.
    public var customClaims: [String] { allClaims.filter { ClaimType(rawValue: $0) == nil } }

    /// The names of all claims that are present, sorted.
    public var allClaims: [String] { payload.keys.sorted() }
}

extension HasClaims where ClaimType == JWTClaim {
    /// The known claims that are present, sorted by name.
    public var claims: [JWTClaim] { allClaims.map(JWTClaim.init(name:)).filter { !$0.isCustom } }

    /// The names of the claims that are present and not known, sorted.
    public var customClaims: [String] { allClaims.filter { JWTClaim(name: $0).isCustom } }
}

/// A type that is read from JSON with a decoder of its own.
public protocol JSONDecodable {
    /// The decoder.
    static var jsonDecoder: JSONDecoder { get }
}

extension JSONDecodable {
    /// A decoder with the usual settings.
    public static var jsonDecoder: JSONDecoder { JSONDecoder() }
}

/// A type whose claims are the members of a JSON object.
public protocol JSONClaimContainer: HasClaims, JSONDecodable {
    /// The object as it was received.
    var json: JSON { get }

    /// Takes the object.
    ///
    /// - Parameter json: An object.
    /// - Throws: ``ClaimError/missingRequiredValue(key:)`` if a required member is missing.
    init(_ json: JSON) throws
}

extension JSONClaimContainer {
    /// The members' values by name.
    public var payload: [String: any Sendable] { json.claimPayload }
}

extension JSONClaimContainer where Self: Decodable {
    /// Reads the object from a decoder.
    ///
    /// - Parameter decoder: The decoder.
    /// - Throws: `DecodingError` if there is no JSON, and what ``init(_:)`` throws.
    public init(from decoder: any Decoder) throws {
        try self.init(JSON(from: decoder))
    }
}

extension JSONClaimContainer where Self: Encodable {
    /// Writes the object as it was received.
    ///
    /// - Parameter encoder: The encoder.
    /// - Throws: `EncodingError` if the encoder can't write JSON.
    public func encode(to encoder: any Encoder) throws {
        try json.encode(to: encoder)
    }
}

extension JSON {
    /// The members of an object as claims.
    var claimPayload: [String: any Sendable] {
        objectValue?.compactMapValues(\.anyValue) ?? [:]
    }
}
