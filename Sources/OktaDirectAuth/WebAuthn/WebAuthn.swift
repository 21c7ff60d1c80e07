public import AuthFoundation

/// The messages of passkeys, as the server and the app exchange them (W3C Web Authentication, Level 3).
public struct WebAuthn: Sendable {
    private init() {}

    /// What the server asks a passkey for.
    public struct CredentialRequestOptions: Codable, Equatable, Sendable, JSONDecodable {
        /// What is passed to the platform.
        public let publicKey: PublicKeyCredentialRequestOptions

        /// The passkeys that the person has enrolled.
        public let authenticatorEnrollments: [AuthenticatorEnrollment]?

        /// A passkey that the person has enrolled.
        public struct AuthenticatorEnrollment: Codable, Equatable, Sendable {
            /// Its identifier, as base64url.
            public let credentialId: String

            /// Its name.
            public let displayName: String

            /// What else is known about it.
            public let profile: [String: String]
        }
    }

    /// A passkey that may answer.
    public struct PublicKeyCredentialDescriptor: Codable, Equatable, Sendable {
        /// Its identifier, as base64url.
        public let id: String

        /// Its kind.
        public let type: PublicKeyCredentialType

        /// The ways to it; those that are not known are left out.
        public let transports: [AuthenticatorTransport]?

        private enum CodingKeys: String, CodingKey {
            case id, type, transports
        }

        /// Reads the server's answer.
        ///
        /// - Parameter decoder: The decoder.
        /// - Throws: `DecodingError` if identifier or kind is missing.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            id = try container.decode(String.self, forKey: .id)
            type = try container.decode(PublicKeyCredentialType.self, forKey: .type)
            transports = try container.decodeIfPresent([String].self, forKey: .transports)?.compactMap(
                AuthenticatorTransport.init(rawValue:))
        }
    }

    /// What a passkey signed.
    public struct AuthenticatorAssertionResponse: Codable, Equatable, Sendable {
        /// What the client saw, as base64url.
        public let clientDataJSON: String

        /// What the authenticator says, as base64url.
        public let authenticatorData: String

        /// The signature over both, as base64url.
        public let signature: String

        /// Whose passkey it is, as base64url.
        public let userHandle: String?

        /// Takes what a passkey signed.
        ///
        /// - Parameters:
        ///   - clientDataJSON: What the client saw, as base64url.
        ///   - authenticatorData: What the authenticator says, as base64url.
        ///   - signature: The signature over both, as base64url.
        ///   - userHandle: Whose passkey it is, as base64url.
        public init(clientDataJSON: String, authenticatorData: String, signature: String, userHandle: String? = nil) {
            self.clientDataJSON = clientDataJSON
            self.authenticatorData = authenticatorData
            self.signature = signature
            self.userHandle = userHandle
        }
    }

    /// The kind of a credential.
    public enum PublicKeyCredentialType: String, Codable, Equatable, Sendable {
        /// A key pair.
        case publicKey = "public-key"
    }

    /// A way to an authenticator.
    public enum AuthenticatorTransport: String, Codable, Equatable, Sendable {
        /// Bluetooth.
        case ble
        /// Near-field communication.
        case nfc
        /// It is part of this device.
        case platform = "internal"
        /// USB.
        case usb
        /// A smart card.
        case smartCard = "smart-card"
        /// Another device nearby.
        case hybrid
    }

    /// Whether the person must be verified, not only be there.
    public enum UserVerificationRequirement: String, Codable, Equatable, Sendable {
        /// Yes.
        case required
        /// If possible.
        case preferred
        /// No.
        case discouraged
    }

    /// What kind of authenticator the person is likely to use.
    public enum PublicKeyCredentialHints: String, Codable, Equatable, Sendable {
        /// A security key.
        case securityKey = "security-key"
        /// This device.
        case clientDevice = "client-device"
        /// Another device nearby.
        case hybrid
    }
}
