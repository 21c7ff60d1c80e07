public import AuthFoundation
public import Foundation

/// The passkey messages between server and app (W3C Web Authentication, Level 3).
public struct WebAuthn: Sendable {
    private init() {}

    /// The server's request for a passkey assertion.
    public struct CredentialRequestOptions: Codable, Equatable, Sendable, JSONDecodable {
        /// The options for the platform's passkey API.
        public let publicKey: PublicKeyCredentialRequestOptions

        /// The passkeys that the user has enrolled; `nil` if the server does not list them.
        public let authenticatorEnrollments: [AuthenticatorEnrollment]?

        /// A passkey that the user has enrolled.
        public struct AuthenticatorEnrollment: Codable, Equatable, Sendable {
            /// The credential ID, in base64url.
            public let credentialId: String

            /// The display name.
            public let displayName: String

            /// Additional properties.
            public let profile: [String: String]
        }
    }

    /// A reference to an acceptable passkey.
    public struct PublicKeyCredentialDescriptor: Codable, Equatable, Sendable {
        /// The credential ID, in base64url.
        public let id: String

        /// The credential type.
        public let type: PublicKeyCredentialType

        /// The transports of the authenticator. Unknown transports are ignored.
        public let transports: [AuthenticatorTransport]?

        private enum CodingKeys: String, CodingKey {
            case id, type, transports
        }

        /// Decodes the server's response.
        /// - Throws: `DecodingError` if the ID or the type is missing, or if the type is unknown.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            id = try container.decode(String.self, forKey: .id)
            type = try container.decode(PublicKeyCredentialType.self, forKey: .type)
            transports = try container.decodeIfPresent([String].self, forKey: .transports)?.compactMap(
                AuthenticatorTransport.init(rawValue:))
        }
    }

    /// A descriptor in a list. Clients ignore descriptors of unknown types (WebAuthn Level 3 §5.8.3).
    private struct KnownDescriptor: Decodable {
        let descriptor: PublicKeyCredentialDescriptor?

        private enum CodingKeys: String, CodingKey { case type }

        init(from decoder: any Decoder) throws {
            let type = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .type)
            descriptor = PublicKeyCredentialType(rawValue: type) == nil ? nil : try PublicKeyCredentialDescriptor(from: decoder)
        }
    }

    /// The assertion of a passkey.
    public struct AuthenticatorAssertionResponse: Codable, Equatable, Sendable {
        /// The client data, in base64url.
        public let clientDataJSON: String

        /// The authenticator data, in base64url.
        public let authenticatorData: String

        /// The signature over the authenticator data and the hash of the client data, in base64url.
        public let signature: String

        /// The ID of the user to whom the passkey belongs, in base64url; `nil` if the passkey does not provide it.
        public let userHandle: String?

        /// Creates an assertion.
        /// - Parameters:
        ///   - clientDataJSON: The client data, in base64url.
        ///   - authenticatorData: The authenticator data, in base64url.
        ///   - signature: The signature, in base64url.
        ///   - userHandle: The ID of the user to whom the passkey belongs, in base64url.
        public init(clientDataJSON: String, authenticatorData: String, signature: String, userHandle: String? = nil) {
            self.clientDataJSON = clientDataJSON
            self.authenticatorData = authenticatorData
            self.signature = signature
            self.userHandle = userHandle
        }
    }

    /// The type of a credential.
    public enum PublicKeyCredentialType: String, Codable, Equatable, Sendable {
        /// A key pair.
        case publicKey = "public-key"
    }

    /// A transport between client and authenticator.
    public enum AuthenticatorTransport: String, Codable, Equatable, Sendable {
        /// Bluetooth.
        case ble
        /// Near-field communication.
        case nfc
        /// Built into this device.
        case platform = "internal"
        /// USB.
        case usb
        /// A smart card.
        case smartCard = "smart-card"
        /// Another device nearby, such as a phone.
        case hybrid
    }

    /// The requirement for user verification, such as a PIN or a fingerprint.
    public enum UserVerificationRequirement: String, Codable, Equatable, Sendable {
        /// Verification is required.
        case required
        /// Verification is preferred but optional.
        case preferred
        /// Verification should be skipped.
        case discouraged
    }

    /// A kind of authenticator that the user probably has.
    public enum PublicKeyCredentialHints: String, Codable, Equatable, Sendable {
        /// A security key.
        case securityKey = "security-key"
        /// This device.
        case clientDevice = "client-device"
        /// Another device nearby, such as a phone.
        case hybrid
    }
}

extension WebAuthn {
    /// The options for a passkey request to the platform.
    public struct PublicKeyCredentialRequestOptions: Codable, Equatable, Sendable {
        /// The challenge to sign, in base64url.
        public let challenge: String

        /// The relying party ID: the domain to which the passkey belongs. `nil` if the server does not send it.
        public var rpID: String? { relyingParty }

        /// The acceptable passkeys; `nil` accepts any.
        public let allowCredentials: [PublicKeyCredentialDescriptor]?

        /// The time limit of the server, in seconds; `nil` for none.
        public let timeout: TimeInterval?

        /// The requirement for user verification; `nil` if the server sent none or an unknown value.
        public let userVerification: UserVerificationRequirement?

        /// The kinds of authenticator that the user probably has.
        public let hints: [PublicKeyCredentialHints]?

        /// The extensions, as received.
        public let extensions: [String: JSON]?

        private let relyingParty: String?

        private enum CodingKeys: String, CodingKey {
            case challenge, rpId, rpID, allowCredentials, timeout, userVerification, hints, extensions
        }

        /// Decodes the server's response. Unknown values of ``userVerification`` and ``hints`` are ignored, and also credentials of unknown
        /// types.
        /// - Throws: `DecodingError` if the challenge is missing, if a member has the wrong type, or if all credentials have unknown types.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            challenge = try container.decode(String.self, forKey: .challenge)
            relyingParty =
                try container.decodeIfPresent(String.self, forKey: .rpId) ?? container.decodeIfPresent(String.self, forKey: .rpID)
            allowCredentials = try container.decodeIfPresent([KnownDescriptor].self, forKey: .allowCredentials).map { list in
                let known = list.compactMap(\.descriptor)
                // An empty list would permit any passkey.
                guard !known.isEmpty || list.isEmpty else {
                    throw DecodingError.dataCorruptedError(
                        forKey: .allowCredentials, in: container, debugDescription: "No credential has a known type.")
                }
                return known
            }
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
