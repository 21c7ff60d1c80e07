extension EmbeddedResponse {
    /// What the organization asks for.
    public enum Policy: Codable, Hashable, Sendable {
        /// Whether devices are remembered.
        case rememberDevice(RememberDevice)
        /// What passwords must be like.
        case password(Password)

        /// Reads a policy: that of remembered devices if it says whether they are allowed, else that of passwords.
        ///
        /// - Parameter decoder: Where to read.
        /// - Throws: `DecodingError`.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let policy = try? container.decode(RememberDevice.self) {
                self = .rememberDevice(policy)
            } else {
                self = .password(try container.decode(Password.self))
            }
        }

        /// Writes the policy.
        ///
        /// - Parameter encoder: Where to write.
        /// - Throws: What the encoder throws.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .rememberDevice(let policy): try container.encode(policy)
            case .password(let policy): try container.encode(policy)
            }
        }

        /// Whether devices are remembered.
        public struct RememberDevice: Codable, Hashable, Sendable {
            /// Whether the person may choose it.
            public let allowRememberDevice: Bool
            /// Whether the person chose it on this device before.
            public let rememberDeviceByDefault: Bool?
            /// For how many minutes; 0 where it does not end with time.
            public let rememberDeviceLifetimeInMinutes: Int?
            /// By a factor's id, whether a push is to be sent without being asked for.
            public let factorsPolicyInfo: [String: FactorInfo]?

            /// What was chosen for one factor.
            public struct FactorInfo: Codable, Hashable, Sendable {
                /// Whether a push is to be sent without being asked for; it is the app that sends it.
                public let autoPushEnabled: Bool?
            }
        }

        /// What passwords must be like.
        public struct Password: Codable, Hashable, Sendable {
            /// When it ends.
            public let expiration: PasswordExpiration?
            /// What it is made of.
            public let complexity: PasswordComplexity?
            /// How long it stays, and which ones may not come back.
            public let age: PasswordAge?

            /// When a password ends.
            public struct PasswordExpiration: Codable, Hashable, Sendable {
                /// In how many days.
                public let passwordExpireDays: Int?
            }

            /// How long a password stays, and which ones may not come back.
            public struct PasswordAge: Codable, Hashable, Sendable {
                /// For how many minutes it can't be changed again.
                public let minAgeMinutes: Int?
                /// How many former ones are refused.
                public let historyCount: Int?
            }

            /// What a password is made of.
            public struct PasswordComplexity: Codable, Hashable, Sendable {
                /// The fewest characters.
                public let minLength: Int?
                /// The fewest lower-case letters.
                public let minLowerCase: Int?
                /// The fewest upper-case letters.
                public let minUpperCase: Int?
                /// The fewest digits.
                public let minNumber: Int?
                /// The fewest other characters.
                public let minSymbol: Int?
                /// Whether the user name may not be in it.
                public let excludeUsername: Bool?
                /// The attributes of the user that may not be in it.
                public let excludeAttributes: [String]?

                /// Reads the requirements; `excludeUsername` may be printed as a string.
                ///
                /// - Parameter decoder: Where to read.
                /// - Throws: `DecodingError`.
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
