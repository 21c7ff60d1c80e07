extension EmbeddedResponse {
    /// A policy of the organization.
    public enum Policy: Codable, Hashable, Sendable {
        /// The policy for remembered devices.
        case rememberDevice(RememberDevice)
        /// The policy for passwords.
        case password(Password)

        /// Decodes a policy. A policy with the member `allowRememberDevice` is a policy for remembered devices.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let policy = try? container.decode(RememberDevice.self) {
                self = .rememberDevice(policy)
            } else {
                self = .password(try container.decode(Password.self))
            }
        }

        /// Encodes the policy.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .rememberDevice(let policy): try container.encode(policy)
            case .password(let policy): try container.encode(policy)
            }
        }

        /// The policy for remembered devices.
        public struct RememberDevice: Codable, Hashable, Sendable {
            /// Whether the user can let the server remember a device.
            public let allowRememberDevice: Bool
            /// Whether the server already remembers this device.
            public let rememberDeviceByDefault: Bool?
            /// The number of minutes for which the server remembers a device; 0 for no time limit.
            public let rememberDeviceLifetimeInMinutes: Int?
            /// The settings of individual factors, by factor ID.
            public let factorsPolicyInfo: [String: FactorInfo]?

            /// The settings of one factor.
            public struct FactorInfo: Codable, Hashable, Sendable {
                /// Whether the app should start the factor's push without asking the user.
                public let autoPushEnabled: Bool?
            }
        }

        /// The policy for passwords.
        public struct Password: Codable, Hashable, Sendable {
            /// The expiration rules.
            public let expiration: PasswordExpiration?
            /// The complexity rules.
            public let complexity: PasswordComplexity?
            /// The age and history rules.
            public let age: PasswordAge?

            /// The expiration of a password.
            public struct PasswordExpiration: Codable, Hashable, Sendable {
                /// The days until the password expires.
                public let passwordExpireDays: Int?
            }

            /// The age and history rules of passwords.
            public struct PasswordAge: Codable, Hashable, Sendable {
                /// The minimum age of a password before the next change, in minutes.
                public let minAgeMinutes: Int?
                /// The number of previous passwords that cannot be reused.
                public let historyCount: Int?
            }

            /// The complexity rules of passwords.
            public struct PasswordComplexity: Codable, Hashable, Sendable {
                /// The minimum number of characters.
                public let minLength: Int?
                /// The minimum number of lowercase letters.
                public let minLowerCase: Int?
                /// The minimum number of uppercase letters.
                public let minUpperCase: Int?
                /// The minimum number of digits.
                public let minNumber: Int?
                /// The minimum number of symbols.
                public let minSymbol: Int?
                /// Whether the password must not contain the username.
                public let excludeUsername: Bool?
                /// The user attributes that the password must not contain.
                public let excludeAttributes: [String]?

                /// Decodes the rules. `excludeUsername` may be a string.
                public init(from decoder: any Decoder) throws {
                    let members = try decoder.container(keyedBy: CodingKeys.self)
                    minLength = try members.decodeIfPresent(Int.self, forKey: .minLength)
                    minLowerCase = try members.decodeIfPresent(Int.self, forKey: .minLowerCase)
                    minUpperCase = try members.decodeIfPresent(Int.self, forKey: .minUpperCase)
                    minNumber = try members.decodeIfPresent(Int.self, forKey: .minNumber)
                    minSymbol = try members.decodeIfPresent(Int.self, forKey: .minSymbol)
                    if let text = try? members.decodeIfPresent(String.self, forKey: .excludeUsername) {
                        excludeUsername = Bool(text)
                    } else {
                        excludeUsername = try members.decodeIfPresent(Bool.self, forKey: .excludeUsername)
                    }
                    excludeAttributes = try members.decodeIfPresent([String].self, forKey: .excludeAttributes)
                }
            }
        }
    }
}
