public import AuthFoundation
public import Foundation

extension WebAuthn {
    /// The options for a passkey request to the platform.
    public struct PublicKeyCredentialRequestOptions: Codable, Equatable, Sendable {
        /// The challenge to sign, in base64url.
        public let challenge: String

        /// The relying party ID: the domain to which the passkey belongs.
        public var rpID: String? { relyingParty }

        /// The acceptable passkeys; `nil` accepts any.
        public let allowCredentials: [PublicKeyCredentialDescriptor]?

        /// The time limit of the server, in seconds.
        public let timeout: TimeInterval?

        /// The requirement for user verification.
        public let userVerification: UserVerificationRequirement?

        /// The kinds of authenticator that the user probably has.
        public let hints: [PublicKeyCredentialHints]?

        /// The extensions, as received.
        public let extensions: [String: JSON]?

        private let relyingParty: String?

        private enum CodingKeys: String, CodingKey {
            case challenge, rpId, rpID, allowCredentials, timeout, userVerification, hints, extensions
        }

        /// Decodes the server's response. Unknown values of enumerations are ignored.
        /// - Throws: `DecodingError` if the challenge is missing or a member has the wrong type.
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

        /// Encodes the options in the server's format, with the timeout in milliseconds.
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
