public import Foundation

/// What comes within an answer: the user, the factors, the policy (authn reference, 2.3).
public struct EmbeddedResponse: Codable, Sendable {
    /// Who signs in; nil before the server says.
    public let user: User?
    /// What a step-up is for.
    public let target: Target?
    /// The policy of the password, or of remembered devices.
    public let policy: Policy?
    /// How a step-up goes on.
    public let authentication: AuthenticationObject?
    /// The factor that is activated or challenged.
    public let factor: Factor?
    /// The factors to choose from.
    public let factors: [Factor]?

    private enum CodingKeys: String, CodingKey {
        case user, target, policy, authentication, factor, factors
    }

    /// Reads what is embedded. Factors are read from a list under either name.
    ///
    /// - Parameter decoder: Where to read.
    /// - Throws: `DecodingError`.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        user = try members.decodeIfPresent(User.self, forKey: .user)
        target = try members.decodeIfPresent(Target.self, forKey: .target)
        policy = try members.decodeIfPresent(Policy.self, forKey: .policy)
        authentication = try members.decodeIfPresent(AuthenticationObject.self, forKey: .authentication)
        // The protocol's own documents print the list under both names.
        let misnamed = try? members.decodeIfPresent([Factor].self, forKey: .factor)
        factor = misnamed == nil ? try members.decodeIfPresent(Factor.self, forKey: .factor) : nil
        factors = try members.decodeIfPresent([Factor].self, forKey: .factors) ?? misnamed
    }

    /// Who signs in.
    public struct User: Codable, Hashable, Sendable {
        /// The user's id.
        public let id: String?
        /// When the password was changed last.
        public let passwordChanged: Date?
        /// Names and places.
        public let profile: Profile?
        /// The question of a recovery.
        public let recoveryQuestion: RecoveryQuestion?

        private enum CodingKeys: String, CodingKey {
            case id, passwordChanged, profile
            case recoveryQuestion = "recovery_question"
        }

        /// Reads a user. Dates may come with a fraction of a second or without.
        ///
        /// - Parameter decoder: Where to read.
        /// - Throws: `DecodingError`.
        public init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: CodingKeys.self)
            id = try members.decodeIfPresent(String.self, forKey: .id)
            passwordChanged = try members.decodeIfPresent(WireDate.self, forKey: .passwordChanged)?.date
            profile = try members.decodeIfPresent(Profile.self, forKey: .profile)
            recoveryQuestion = try members.decodeIfPresent(RecoveryQuestion.self, forKey: .recoveryQuestion)
        }

        /// Writes a user.
        ///
        /// - Parameter encoder: Where to write.
        /// - Throws: What the encoder throws.
        public func encode(to encoder: any Encoder) throws {
            var members = encoder.container(keyedBy: CodingKeys.self)
            try members.encodeIfPresent(id, forKey: .id)
            try members.encodeIfPresent(passwordChanged.map(WireDate.init), forKey: .passwordChanged)
            try members.encodeIfPresent(profile, forKey: .profile)
            try members.encodeIfPresent(recoveryQuestion, forKey: .recoveryQuestion)
        }

        /// Names and places.
        public struct Profile: Codable, Hashable, Sendable {
            /// The name to sign in with.
            public let login: String?
            /// The first name.
            public let firstName: String?
            /// The last name.
            public let lastName: String?
            /// The language (RFC 5646).
            public let locale: String?
            /// The time zone's IANA name.
            public let timeZone: String?
        }

        /// The question of a recovery.
        public struct RecoveryQuestion: Codable, Hashable, Sendable {
            /// The text.
            public let question: String?
        }
    }

    /// What a step-up is for.
    public struct Target: Codable, Hashable, Sendable {
        /// The kind of target.
        public let type: String?
        /// The application's name.
        public let name: String?
        /// What people call it.
        public let label: String?
        /// Its links.
        public let links: LinksResponse?

        private enum CodingKeys: String, CodingKey {
            case type, name, label
            case links = "_links"
        }
    }

    /// How a step-up goes on.
    public struct AuthenticationObject: Codable, Hashable, Sendable {
        /// The protocol of federation.
        public let authProtocol: AuthProtocol?
        /// Who is asked.
        public let issuer: Issuer?

        private enum CodingKeys: String, CodingKey {
            case authProtocol = "protocol"
            case issuer
        }

        /// Who is asked.
        public struct Issuer: Codable, Hashable, Sendable {
            /// The id.
            public let id: String?
            /// The name.
            public let name: String?
            /// The identifier in the protocol.
            public let uri: String?
        }
    }
}

extension OktaAPISuccessResponse {
    /// What a recovery is for.
    public enum RecoveryType: RawRepresentable, Codable, Hashable, Sendable {
        /// A forgotten password.
        case password
        /// A locked account.
        case unlock
        /// A word that this version does not know, as it came.
        case unknown(String)

        /// The case for a word of the wire; upper and lower case count.
        ///
        /// - Parameter raw: The word.
        public init(raw: String) {
            self =
                switch raw {
                case "PASSWORD": .password
                case "UNLOCK": .unlock
                default: .unknown(raw)
                }
        }

        /// The case for a word of the wire; upper and lower case count.
        ///
        /// - Parameter rawValue: The word.
        public init(rawValue: String) {
            self.init(raw: rawValue)
        }

        /// The word of the wire.
        public var rawValue: String {
            switch self {
            case .password: "PASSWORD"
            case .unlock: "UNLOCK"
            case .unknown(let raw): raw
            }
        }
    }
}

/// A question that a person may choose (authn reference, 4.15).
public struct SecurityQuestion: Codable, Hashable, Sendable {
    /// The key, which is sent when it is chosen.
    public let question: String?

    /// The text, which a person reads.
    public let questionText: String?
}

/// A time of the protocol: with a fraction of a second, as the server writes it, or without.
struct WireDate: Codable {
    let date: Date

    init(_ date: Date) {
        self.date = date
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let date = Self.date(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "This is no date with time and zone.")
        }
        self.date = date
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
    }

    private static func date(_ text: String) -> Date? {
        // `+0000` and `+00:00` are the same zone.
        let text = text.replacing(/([+-]\d\d)(\d\d)$/) { "\($0.output.1):\($0.output.2)" }
        return (try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text)) ?? (try? Date.ISO8601FormatStyle().parse(text))
    }
}
