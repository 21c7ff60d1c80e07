public import JOSE

extension EmbeddedResponse {
    /// A factor as the server describes it (authn reference, 5.1).
    public struct Factor: Codable, Sendable {
        /// The factor's id; nil before it is enrolled.
        public let id: String?
        /// The kind.
        public let factorType: FactorType
        /// Who provides it.
        public let provider: FactorProvider?
        /// What people call its maker.
        public let vendorName: String?
        /// What tells it from others.
        public let profile: Profile?
        /// Its activation or its challenge.
        public let embedded: Embedded?
        /// What may be done with it.
        public let links: LinksResponse?
        /// `OPTIONAL` or `REQUIRED`, where it is to be enrolled.
        public let enrollment: String?
        /// `NOT_SETUP` or `ACTIVE`, where it is to be enrolled.
        public let status: String?

        private enum CodingKeys: String, CodingKey {
            case id, factorType, provider, vendorName, profile
            case embedded = "_embedded"
            case links = "_links"
            case enrollment, status
        }

        /// What tells a factor from others.
        public struct Profile: Codable, Hashable, Sendable {
            /// The name of the device.
            public let name: String?
            /// The number, masked.
            public let phoneNumber: String?
            /// The key of the question.
            public let question: String?
            /// The text of the question.
            public let questionText: String?
            /// The account or the serial number.
            public let credentialId: String?
            /// The address, masked.
            public let email: String?
            /// The kind of device.
            public let deviceType: String?
            /// The device's system.
            public let platform: String?
            /// The system's version.
            public let version: String?
        }

        /// A factor's activation or challenge.
        public struct Embedded: Codable, Sendable {
            /// The activation that waits.
            public let activation: Activation?
            /// The challenge that waits.
            public let challenge: Challenge?

            /// What an activation needs. Printing it shows no secret.
            public struct Activation: Codable, Sendable {
                /// When it ends, as the server wrote it.
                public let expiresAt: String?
                /// The seconds that a code is good for.
                public let timeStep: Int?
                /// The secret, which the authenticator app gets.
                public let sharedSecret: String?
                /// How the secret is written: `base32` or `base64`.
                public let encoding: String?
                /// The digits of a code.
                public let keyLength: Int?
                /// The code to scan, and ways to deliver a link.
                public let links: LinksResponse?

                private enum CodingKeys: String, CodingKey {
                    case expiresAt, timeStep, sharedSecret, encoding, keyLength
                    case links = "_links"
                }
            }

            /// A challenge.
            public struct Challenge: Codable, Hashable, Sendable {
                /// The number to pick on the device, while it asks for one.
                public let correctAnswer: Int?
            }
        }
    }
}

extension EmbeddedResponse.Factor.Embedded.Activation: Redacted {
    /// No secret.
    public var description: String { "Activation(expiresAt: \(expiresAt ?? "none"))" }
}
