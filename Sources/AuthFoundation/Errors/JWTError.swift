public import Foundation
internal import JOSE

#if !canImport(Darwin)
/// A status of Apple's security framework, which other systems don't have.
public typealias OSStatus = Int32
#endif

/// A JSON Web Token is malformed or not acceptable.
public enum JWTError: Error, Equatable, Sendable {
    /// A part is not base64url.
    case invalidBase64Encoding
    /// It does not have three parts, or a part is not the JSON that it must be.
    case badTokenStructure
    /// It is from another issuer.
    case invalidIssuer
    /// It is meant for another client.
    case invalidAudience
    /// It does not say whom it is about, or is about someone else.
    case invalidSubject
    /// It does not say when the person authenticated, or says it wrongly.
    case invalidAuthenticationTime
    /// The issuer is not an https URL.
    case issuerRequiresHTTPS
    /// The algorithm of the signature is not allowed.
    case invalidSigningAlgorithm
    /// It has expired.
    case expired
    /// It was issued too long ago or in the future.
    case issuedAtTimeExceedsGraceInterval
    /// It does not answer the request that was sent.
    case nonceMismatch
    /// The key that it names is not known.
    case invalidKey
    /// A hash can't be computed.
    case cannotGenerateHash
    /// Signatures can't be checked here.
    case signatureVerificationUnavailable
    /// The signature or a hash is wrong.
    case signatureInvalid
    /// The person authenticated longer ago than was asked for.
    case exceedsMaxAge
    /// A key can't be made.
    case cannotCreateKey(code: OSStatus, description: String?)
    /// The algorithm of the signature is not supported.
    case unsupportedAlgorithm(_ algorithm: JWK.Algorithm)
}

extension JWTError: LocalizedError {
    /// What happened, and what to do next.
    public var errorDescription: String? {
        switch self {
        case .invalidBase64Encoding: "The token is malformed: a part is not base64url."
        case .badTokenStructure: "The token is malformed: it is not a signed JSON Web Token."
        case .invalidIssuer: "The token is from another issuer than the client's. Check the issuer in the app's configuration."
        case .invalidAudience: "The token is meant for another client. Check the client id in the app's configuration."
        case .invalidSubject: "The token does not say whom it is about, or is about someone else."
        case .invalidAuthenticationTime: "The token does not say rightly when the person authenticated."
        case .issuerRequiresHTTPS: "The token's issuer is not an https URL. Plain http is allowed for loopback hosts only."
        case .invalidSigningAlgorithm: "The token is signed with an algorithm that is not allowed."
        case .expired: "The token has expired. If it was just issued, check this device's date and time."
        case .issuedAtTimeExceedsGraceInterval:
            "The token was issued too long ago or in the future. Check this device's date and time."
        case .nonceMismatch: "The token does not answer the request that was sent. Sign in again."
        case .invalidKey: "The token is signed with a key that the issuer does not publish."
        case .cannotGenerateHash: "The hash can't be computed."
        case .signatureVerificationUnavailable: "Signatures can't be checked on this system."
        case .signatureInvalid: "The token's signature, or a hash in it, is wrong."
        case .exceedsMaxAge: "The person authenticated longer ago than was asked for. Sign in again."
        case .cannotCreateKey(let code, let description): "The key can't be made (\(code))\(description.map { ": \($0)" } ?? "")."
        case .unsupportedAlgorithm(let algorithm):
            "The token is signed with \(algorithm.rawValue), which is not allowed here. Check which algorithms the issuer announces."
        }
    }
}

/// A token's times don't fit this device's clock, which is known to be wrong by what the server's `Date` headers say.
public struct ClockSkewError: Error, LocalizedError, Equatable, Sendable {
    /// By how many seconds the server's clock is ahead of the device's.
    public let offset: TimeInterval

    /// What the check of the token's times said.
    public let underlying: JWTError

    /// What happened, and what to do next.
    public var errorDescription: String? {
        let minutes = Int(clamping: (abs(offset) / 60).rounded())
        let direction = offset > 0 ? "behind" : "ahead of"
        return
            "\(underlying.localizedDescription) This device's clock is \(minutes) minutes \(direction) the server's. Set the date and time."
    }
}
