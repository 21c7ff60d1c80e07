public import Foundation

/// The embedded objects of a response: user, factors and policy (Documentation/Protocol/Authn.md §2.3). In this type and its nested types,
/// a member is `nil` if the response does not contain it.
public struct EmbeddedResponse: Codable, Sendable {
    /// The user who signs in; `nil` until the server returns the user.
    public let user: User?
    /// The target of a step-up authentication.
    public let target: Target?
    /// The policy for passwords or remembered devices.
    public let policy: Policy?
    /// The federated authentication of a step-up.
    public let authentication: AuthenticationObject?
    /// The factor of the current activation or challenge.
    public let factor: Factor?
    /// The available factors.
    public let factors: [Factor]?

    private enum CodingKeys: String, CodingKey {
        case user, target, policy, authentication, factor, factors
    }

    /// Decodes the embedded objects. The list of factors may have the name `factor` or `factors`.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        user = try members.decodeIfPresent(User.self, forKey: .user)
        target = try members.decodeIfPresent(Target.self, forKey: .target)
        policy = try members.decodeIfPresent(Policy.self, forKey: .policy)
        authentication = try members.decodeIfPresent(AuthenticationObject.self, forKey: .authentication)
        // The documentation of the protocol uses both names for the list.
        let misnamed = try? members.decodeIfPresent([Factor].self, forKey: .factor)
        factor = misnamed == nil ? try members.decodeIfPresent(Factor.self, forKey: .factor) : nil
        factors = try members.decodeIfPresent([Factor].self, forKey: .factors) ?? misnamed
    }

    /// A user.
    public struct User: Codable, Hashable, Sendable {
        /// The user's ID.
        public let id: String?
        /// The time of the last password change.
        public let passwordChanged: Date?
        /// The user's profile.
        public let profile: Profile?
        /// The security question of a recovery.
        public let recoveryQuestion: RecoveryQuestion?

        private enum CodingKeys: String, CodingKey {
            case id, passwordChanged, profile
            case recoveryQuestion = "recovery_question"
        }

        /// Decodes a user. Dates may have fractional seconds.
        public init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: CodingKeys.self)
            id = try members.decodeIfPresent(String.self, forKey: .id)
            passwordChanged = try members.decodeIfPresent(WireDate.self, forKey: .passwordChanged)?.date
            profile = try members.decodeIfPresent(Profile.self, forKey: .profile)
            recoveryQuestion = try members.decodeIfPresent(RecoveryQuestion.self, forKey: .recoveryQuestion)
        }

        /// Encodes a user.
        public func encode(to encoder: any Encoder) throws {
            var members = encoder.container(keyedBy: CodingKeys.self)
            try members.encodeIfPresent(id, forKey: .id)
            try members.encodeIfPresent(passwordChanged.map { WireDate(date: $0) }, forKey: .passwordChanged)
            try members.encodeIfPresent(profile, forKey: .profile)
            try members.encodeIfPresent(recoveryQuestion, forKey: .recoveryQuestion)
        }

        /// The user's profile.
        public struct Profile: Codable, Hashable, Sendable {
            /// The username.
            public let login: String?
            /// The first name.
            public let firstName: String?
            /// The last name.
            public let lastName: String?
            /// The user's language (RFC 5646).
            public let locale: String?
            /// The IANA name of the time zone.
            public let timeZone: String?
        }

        /// The security question of a recovery.
        public struct RecoveryQuestion: Codable, Hashable, Sendable {
            /// The text of the question.
            public let question: String?
        }
    }

    /// The target of a step-up authentication.
    public struct Target: Codable, Hashable, Sendable {
        /// The type of the target.
        public let type: String?
        /// The application's name.
        public let name: String?
        /// The display name of the application.
        public let label: String?
        /// The links of the target.
        public let links: LinksResponse?

        private enum CodingKeys: String, CodingKey {
            case type, name, label
            case links = "_links"
        }
    }

    /// The federated authentication of a step-up.
    public struct AuthenticationObject: Codable, Hashable, Sendable {
        /// The federation protocol.
        public let authProtocol: AuthProtocol?
        /// The identity provider.
        public let issuer: Issuer?

        private enum CodingKeys: String, CodingKey {
            case authProtocol = "protocol"
            case issuer
        }

        /// The identity provider.
        public struct Issuer: Codable, Hashable, Sendable {
            /// The ID of the identity provider.
            public let id: String?
            /// The name of the identity provider.
            public let name: String?
            /// The identifier of the identity provider in the protocol.
            public let uri: String?
        }
    }
}

extension OktaAPISuccessResponse {
    /// The purpose of a recovery.
    public enum RecoveryType: RawRepresentable, Codable, Hashable, Sendable {
        /// A forgotten password.
        case password
        /// A locked account.
        case unlock
        /// A value that this version does not know.
        case unknown(String)

        /// Creates the case for a value from the server, which is case-sensitive. Other values become `unknown`.
        public init(raw: String) {
            let known: [Self] = [.password, .unlock]
            self = known.first { $0.rawValue == raw } ?? .unknown(raw)
        }

        /// Creates the case for a value from the server, which is case-sensitive. Other values become `unknown`.
        public init(rawValue: String) {
            self.init(raw: rawValue)
        }

        /// The value in the protocol.
        public var rawValue: String {
            switch self {
            case .password: "PASSWORD"
            case .unlock: "UNLOCK"
            case .unknown(let raw): raw
            }
        }
    }
}

/// A security question that the user can choose (Documentation/Protocol/Authn.md §4.15).
public struct SecurityQuestion: Codable, Hashable, Sendable {
    /// The key of the question.
    public let question: String?

    /// The text of the question.
    public let questionText: String?
}

/// A date in the protocol. The server writes fractional seconds; dates without fractional seconds are also accepted.
struct WireDate: Codable {
    let date: Date
}

extension WireDate {
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
        // `+0000` and `+00:00` are the same time zone.
        let text = text.replacing(/([+-]\d\d)(\d\d)$/) { "\($0.output.1):\($0.output.2)" }
        return (try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text)) ?? (try? Date.ISO8601FormatStyle().parse(text))
    }
}
