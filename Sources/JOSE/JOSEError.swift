/// An error that says why a key, signature or token was rejected.
/// Programs use the code, humans read the message. Errors are equal if their codes are equal. A code also works as a pattern: `catch
/// JOSEError.Code.expired`. Messages never contain key material, signatures or unverified claims.
public struct JOSEError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The reason for the error.
    public let code: Code
    /// A sentence that says what happened and what to do about it.
    public let message: String

    /// Creates an error. The message must not contain secrets.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The code and the message.
    public var description: String { "\(code.rawValue): \(message)" }

    /// Whether two errors have the same code.
    public static func == (lhs: JOSEError, rhs: JOSEError) -> Bool { lhs.code == rhs.code }
}

extension JOSEError {
    /// The reason for an error. Later versions may add more reasons.
    public struct Code: Hashable, Sendable, RawRepresentable {
        /// The name of the reason.
        public let rawValue: String

        /// Creates a code from its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The input violates its specification (base64url, UTF-8, JSON, JWS or JWK).
        public static let malformed = Code(rawValue: "malformed")
        /// The input is longer than the limit.
        public static let tooLarge = Code(rawValue: "tooLarge")
        /// The JSON is nested deeper than the limit.
        public static let tooDeep = Code(rawValue: "tooDeep")
        /// The algorithm is not one of ``JWSAlgorithm``.
        public static let unsupportedAlgorithm = Code(rawValue: "unsupportedAlgorithm")
        /// The algorithm is known, but the verifier does not accept it.
        public static let algorithmNotAllowed = Code(rawValue: "algorithmNotAllowed")
        /// No key in the set matches the token. The set may be out of date.
        public static let unknownKey = Code(rawValue: "unknownKey")
        /// The key is damaged, too weak, or does not match its algorithm.
        public static let invalidKey = Code(rawValue: "invalidKey")
        /// The signature does not match.
        public static let badSignature = Code(rawValue: "badSignature")
        /// The header names a critical extension; none is supported (RFC 7515 §4.1.11).
        public static let criticalHeader = Code(rawValue: "criticalHeader")
        /// The header's `typ` differs from the expected type.
        public static let wrongType = Code(rawValue: "wrongType")
        /// The token has expired.
        public static let expired = Code(rawValue: "expired")
        /// The token is not valid yet (`nbf`).
        public static let notYetValid = Code(rawValue: "notYetValid")
        /// The token's issue time (`iat`) is in the future.
        public static let issuedInFuture = Code(rawValue: "issuedInFuture")
        /// The token comes from another issuer.
        public static let wrongIssuer = Code(rawValue: "wrongIssuer")
        /// The token is intended for another audience.
        public static let wrongAudience = Code(rawValue: "wrongAudience")
        /// A required claim is missing.
        public static let missingClaim = Code(rawValue: "missingClaim")
        /// A registered claim has the wrong type.
        public static let invalidClaim = Code(rawValue: "invalidClaim")

        /// Matches errors with this code.
        public static func ~= (code: Code, error: any Error) -> Bool { (error as? JOSEError)?.code == code }
    }
}
