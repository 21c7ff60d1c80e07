public import Foundation
internal import JOSE

#if !canImport(Darwin)
/// A status code of Apple's Security framework, defined here for other platforms.
public typealias OSStatus = Int32
#endif

/// A malformed or invalid JSON Web Token.
public enum JWTError: Error, Equatable, Sendable {
    /// A part of the token is not base64url.
    case invalidBase64Encoding
    /// The token does not have three parts, or a part is not the required JSON.
    case badTokenStructure
    /// The token is from another issuer.
    case invalidIssuer
    /// The token is for another client.
    case invalidAudience
    /// The subject is missing or unexpected.
    case invalidSubject
    /// The authentication time is missing or incorrect.
    case invalidAuthenticationTime
    /// The issuer is neither an https URL nor an http URL with a loopback host.
    case issuerRequiresHTTPS
    /// The signature algorithm is not allowed.
    case invalidSigningAlgorithm
    /// The token has expired.
    case expired
    /// The token was issued too long ago or in the future.
    case issuedAtTimeExceedsGraceInterval
    /// The nonce does not match the request.
    case nonceMismatch
    /// The key that the token names is unknown or unusable.
    case invalidKey
    /// A hash cannot be computed.
    case cannotGenerateHash
    /// Signatures cannot be verified on this platform.
    case signatureVerificationUnavailable
    /// The signature or a hash is invalid.
    case signatureInvalid
    /// The user's last authentication is older than the request allows.
    case exceedsMaxAge
    /// A key cannot be created.
    case cannotCreateKey(code: OSStatus, description: String?)
    /// The signature algorithm is not supported.
    case unsupportedAlgorithm(_ algorithm: JWK.Algorithm)
}

extension JWTError: LocalizedError, CustomDebugStringConvertible, ClientError {
    /// A sentence for the user, in the user's language.
    public var errorDescription: String? { userText.description.text }

    /// The next step for the user, in the user's language; `nil` if there is none.
    public var recoverySuggestion: String? { userText.suggestion?.text }

    package var userText: ErrorText {
        switch self {
        case .invalidBase64Encoding, .badTokenStructure, .invalidSubject, .invalidAuthenticationTime, .nonceMismatch, .invalidKey,
            .cannotGenerateHash, .signatureInvalid, .cannotCreateKey:
            .notVerified
        case .invalidIssuer, .invalidAudience, .issuerRequiresHTTPS, .invalidSigningAlgorithm, .signatureVerificationUnavailable,
            .unsupportedAlgorithm:
            .appSetup
        case .expired: ErrorText(ErrorText.signInExpired.description, next: .checkClockAndSignIn)
        case .issuedAtTimeExceedsGraceInterval: .clockDoubtful
        case .exceedsMaxAge:
            ErrorText("Your last sign-in was too long ago.", de: "Ihre letzte Anmeldung liegt zu lange zurück.", next: .signInAgain)
        }
    }

    /// The reason and a remedy, for developers.
    public var debugDescription: String {
        switch self {
        case .invalidBase64Encoding: "The token is malformed: a part is not base64url."
        case .badTokenStructure: "The token is malformed: it is not a signed JSON Web Token."
        case .invalidIssuer: "The token is from another issuer than the client's. Check the issuer in the app's configuration."
        case .invalidAudience: "The token is meant for another client. Check the client id in the app's configuration."
        case .invalidSubject: "The token does not say whom it is about, or is about someone else."
        case .invalidAuthenticationTime: "The token's `auth_time` is invalid."
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
        case .exceedsMaxAge: "The user's sign-in is older than `max_age` allows. Sign in again."
        case .cannotCreateKey(let code, let description): "The key can't be made (\(code))\(description.map { ": \($0)" } ?? "")."
        case .unsupportedAlgorithm(let algorithm):
            "The token is signed with \(algorithm.rawValue), which is not allowed here. Check which algorithms the issuer announces."
        }
    }
}

/// Reports that a token's times do not match this device's clock. The server's `Date` headers show that the clock is wrong.
public struct ClockSkewError: Error, LocalizedError, Equatable, Sendable {
    /// The number of seconds by which the server's clock is ahead of the device's.
    public let offset: TimeInterval

    /// The error of the token validation.
    public let underlying: JWTError
}

extension ClockSkewError: CustomDebugStringConvertible, ClientError {
    /// A sentence for the user, in the user's language.
    public var errorDescription: String? { userText.description.text }

    /// The next step for the user, in the user's language; `nil` if there is none.
    public var recoverySuggestion: String? { userText.suggestion?.text }

    package var userText: ErrorText { ErrorText(clockOffset: offset) }

    /// The error of the validation, the clock's difference and a remedy, for developers.
    public var debugDescription: String {
        let minutes = Int(clamping: (abs(offset) / 60).rounded())
        let direction = offset > 0 ? "behind" : "ahead of"
        return
            "\(underlying.debugDescription) This device's clock is \(minutes) minutes \(direction) the server's. Set the date and time."
    }
}
