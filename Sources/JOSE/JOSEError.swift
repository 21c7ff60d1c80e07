/// Why a key, a signature or a token was refused.
///
/// The code is for programs, the message for people. Two errors are equal when their codes are, and a code can be used as a
/// pattern: `catch JOSEError.Code.expired`. A message never contains key material, signatures or claims that were not verified.
public struct JOSEError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The reason, for programs to act upon.
    public let code: Code
    /// What happened and what to do about it, in one sentence.
    public let message: String

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - code: The reason.
    ///   - message: What happened and what to do about it, without secrets.
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
    /// A reason; more may be added in later versions.
    public struct Code: Hashable, Sendable, RawRepresentable {
        /// The name of the reason.
        public let rawValue: String

        /// Makes a code from its name.
        ///
        /// - Parameter rawValue: The name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The input is not what its specification asks for (base64url, UTF-8, JSON, JWS, JWK).
        public static let malformed = Code(rawValue: "malformed")
        /// The input is longer than the limit.
        public static let tooLarge = Code(rawValue: "tooLarge")
        /// The JSON is nested deeper than the limit.
        public static let tooDeep = Code(rawValue: "tooDeep")
        /// The algorithm is not one of ``JWSAlgorithm``.
        public static let unsupportedAlgorithm = Code(rawValue: "unsupportedAlgorithm")
        /// The algorithm is known, but the verifier does not accept it.
        public static let algorithmNotAllowed = Code(rawValue: "algorithmNotAllowed")
        /// No key of the set fits the token; the set may be out of date.
        public static let unknownKey = Code(rawValue: "unknownKey")
        /// The key is damaged, too weak, or does not fit its algorithm.
        public static let invalidKey = Code(rawValue: "invalidKey")
        /// The signature does not match.
        public static let badSignature = Code(rawValue: "badSignature")
        /// The header names a critical extension that is not understood (RFC 7515, section 4.1.11).
        public static let criticalHeader = Code(rawValue: "criticalHeader")
        /// The header's `typ` is not the expected one.
        public static let wrongType = Code(rawValue: "wrongType")
        /// The token's lifetime is over.
        public static let expired = Code(rawValue: "expired")
        /// The token's lifetime has not begun.
        public static let notYetValid = Code(rawValue: "notYetValid")
        /// The token says that it was issued later than now.
        public static let issuedInFuture = Code(rawValue: "issuedInFuture")
        /// The token is from another issuer.
        public static let wrongIssuer = Code(rawValue: "wrongIssuer")
        /// The token is for another audience.
        public static let wrongAudience = Code(rawValue: "wrongAudience")
        /// A claim that is needed is absent.
        public static let missingClaim = Code(rawValue: "missingClaim")
        /// A registered claim has the wrong type.
        public static let invalidClaim = Code(rawValue: "invalidClaim")

        /// Matches an error by its code.
        public static func ~= (code: Code, error: any Error) -> Bool { (error as? JOSEError)?.code == code }
    }
}
