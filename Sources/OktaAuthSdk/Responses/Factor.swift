public import JOSE

extension EmbeddedResponse {
    /// The server's description of a factor (Documentation/Protocol/Authn.md §5.1).
    public struct Factor: Codable, Sendable {
        /// The factor's ID; `nil` before enrollment.
        public let id: String?
        /// The type of the factor.
        public let factorType: FactorType
        /// The provider of the factor.
        public let provider: FactorProvider?
        /// The display name of the vendor.
        public let vendorName: String?
        /// The properties that identify the factor.
        public let profile: Profile?
        /// The activation or the challenge of the factor.
        public let embedded: Embedded?
        /// The links of the available operations.
        public let links: LinksResponse?
        /// `OPTIONAL` or `REQUIRED`; `nil` if the factor cannot be enrolled.
        public let enrollment: String?
        /// `NOT_SETUP` or `ACTIVE`; `nil` if the factor cannot be enrolled.
        public let status: String?

        private enum CodingKeys: String, CodingKey {
            case id, factorType, provider, vendorName, profile
            case embedded = "_embedded"
            case links = "_links"
            case enrollment, status
        }

        /// The properties that identify a factor.
        public struct Profile: Codable, Hashable, Sendable {
            /// The name of the device.
            public let name: String?
            /// The masked phone number.
            public let phoneNumber: String?
            /// The key of the security question.
            public let question: String?
            /// The text of the security question.
            public let questionText: String?
            /// The account or serial number of the token.
            public let credentialId: String?
            /// The masked email address.
            public let email: String?
            /// The type of the device.
            public let deviceType: String?
            /// The operating system of the device.
            public let platform: String?
            /// The version of the operating system.
            public let version: String?
        }

        /// A factor's activation or challenge.
        public struct Embedded: Codable, Sendable {
            /// The pending activation.
            public let activation: Activation?
            /// The pending challenge.
            public let challenge: Challenge?

            /// The data for an activation. Its description shows no secret.
            public struct Activation: Codable, Sendable {
                /// The expiration time, as the server formats it.
                public let expiresAt: String?
                /// The period of a code, in seconds.
                public let timeStep: Int?
                /// The shared secret for the authenticator app.
                public let sharedSecret: String?
                /// The encoding of the secret: `base32` or `base64`.
                public let encoding: String?
                /// The number of digits of a code.
                public let keyLength: Int?
                /// The links of the activation: the image of the QR code, and the requests that send the user an activation link by text or
                /// email.
                public let links: LinksResponse?

                private enum CodingKeys: String, CodingKey {
                    case expiresAt, timeStep, sharedSecret, encoding, keyLength
                    case links = "_links"
                }
            }

            /// A push challenge.
            public struct Challenge: Codable, Hashable, Sendable {
                /// The number that the user must select on the device; `nil` without number matching.
                public let correctAnswer: Int?
            }
        }
    }
}

extension EmbeddedResponse.Factor.Embedded.Activation: Redacted {
    /// The expiration time; no secret.
    public var description: String { "Activation(expiresAt: \(expiresAt ?? "none"))" }
}
