public import AuthFoundation
public import Foundation

extension WebAuthn {
    /// What is passed to the platform to make a passkey sign.
    public struct PublicKeyCredentialRequestOptions: Codable, Equatable, Sendable {
        /// What is signed, as base64url.
        public let challenge: String

        /// The site that the passkey belongs to.
        public var rpID: String? { relyingParty }

        /// The passkeys that may answer; nil for any.
        public let allowCredentials: [PublicKeyCredentialDescriptor]?

        /// For how many seconds the server waits.
        public let timeout: TimeInterval?

        /// Whether the person must be verified.
        public let userVerification: UserVerificationRequirement?

        /// What kind of authenticator the person is likely to use.
        public let hints: [PublicKeyCredentialHints]?

        /// Extensions, as they were received.
        public let extensions: [String: JSON]?

        private let relyingParty: String?

        private enum CodingKeys: String, CodingKey {
            case challenge, rpId, rpID, allowCredentials, timeout, userVerification, hints, extensions
        }

        /// Reads the server's answer. Values of the closed lists that are not known are left out.
        ///
        /// - Parameter decoder: The decoder.
        /// - Throws: `DecodingError` if there is no challenge or a member is of the wrong type.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            challenge = try container.decode(String.self, forKey: .challenge)
            relyingParty =
                try container.decodeIfPresent(String.self, forKey: .rpId) ?? container.decodeIfPresent(String.self, forKey: .rpID)
            allowCredentials = try container.decodeIfPresent([PublicKeyCredentialDescriptor].self, forKey: .allowCredentials)
            timeout = try container.decodeIfPresent(Double.self, forKey: .timeout).map { $0 / 1000 }
            userVerification = try container.decodeIfPresent(String.self, forKey: .userVerification)
                .flatMap(UserVerificationRequirement.init(rawValue:))
            hints = try container.decodeIfPresent([String].self, forKey: .hints)?.compactMap(PublicKeyCredentialHints.init(rawValue:))
            extensions = try container.decodeIfPresent([String: JSON].self, forKey: .extensions)
        }

        /// Writes the options as the server does, with milliseconds.
        ///
        /// - Parameter encoder: The encoder.
        /// - Throws: `EncodingError` if the encoder can't write JSON.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(challenge, forKey: .challenge)
            try container.encodeIfPresent(relyingParty, forKey: .rpId)
            try container.encodeIfPresent(allowCredentials, forKey: .allowCredentials)
            try container.encodeIfPresent(timeout.flatMap { Int64(exactly: ($0 * 1000).rounded()) }, forKey: .timeout)
            try container.encodeIfPresent(userVerification, forKey: .userVerification)
            try container.encodeIfPresent(hints, forKey: .hints)
            try container.encodeIfPresent(extensions, forKey: .extensions)
        }
    }
}
