/// What holds at the classic sign-in API, which knows no application: the organization itself asks there
/// (authn reference 1.2, 6.3 and 6.4).
public struct ClassicPolicy: Sendable, Equatable, Codable {
    /// Whether a device can stand in for the second factor after it was proved there once.
    public enum Remembering: Sendable, Equatable, Codable {
        /// Never.
        case never
        /// As long as the device brings its token, at most a year.
        case device
        /// For some minutes, 1 to 525,600.
        case time(minutes: Int)
    }

    /// A back end that may say more than anybody else: which device it speaks for.
    public struct TrustedCaller: Sendable, Equatable, Codable {
        /// What the system log calls it.
        public var name: String
        /// The SHA-256 of its token.
        public var tokenDigest: [UInt8]

        /// Names a caller.
        ///
        /// - Parameters:
        ///   - name: What the system log calls it.
        ///   - token: What it sends in `Authorization: SSWS`; only its digest is kept.
        public init(name: String, token: String) {
            self.name = name
            tokenDigest = TicketDigest(of: token).bytes
        }
    }

    /// The name of the sign-on policy that decides there.
    public var signOnPolicy: String
    /// Whether a locked account is told from a wrong password. That tells everybody which accounts there are.
    public var showsLockout: Bool
    /// Whether devices are remembered.
    public var remembering: Remembering
    /// Which factors people set up. Of those that are not named, authenticator apps and phones with push can be.
    public var factors: [Factor: Enrolling]
    /// Whether who has no factor is offered to set one up, at every sign-in until they do.
    public var offersOptional: Bool
    /// How people get back into an account whose password they forgot; empty for not at all.
    public var recovery: Set<CodeChannel>
    /// Whether they can unlock it in the same ways.
    public var unlocksBySelfService: Bool
    /// Who is believed more.
    public var trustedCallers: [TrustedCaller]
    /// The origins, beside the organization's own, to which a browser may be sent after its session began.
    public var trustedOrigins: [String]

    /// Makes a policy; what is left out is the safe default.
    public init(
        signOnPolicy: String, showsLockout: Bool = false, remembering: Remembering = .never, factors: [Factor: Enrolling] = [:],
        offersOptional: Bool = false, recovery: Set<CodeChannel> = [], unlocksBySelfService: Bool = false,
        trustedCallers: [TrustedCaller] = [],
        trustedOrigins: [String] = []
    ) {
        self.signOnPolicy = signOnPolicy
        self.showsLockout = showsLockout
        self.remembering = remembering
        self.factors = factors
        self.offersOptional = offersOptional
        self.recovery = recovery
        self.unlocksBySelfService = unlocksBySelfService
        self.trustedCallers = trustedCallers
        self.trustedOrigins = trustedOrigins
    }

    /// The caller that a token is of; nil for nobody's.
    func caller(token: String) -> TrustedCaller? {
        let digest = TicketDigest(of: token).bytes
        return trustedCallers.first { $0.tokenDigest == digest }
    }
}

extension ClassicPolicy {
    /// Stands for the organization where a sign-in wants an application. No application can be called so: ids have no colon.
    static let applicationID = "authn:api"
}

extension OrgSnapshot {
    /// What signs in by the classic API sign in to: the organization. Nil if the API is off.
    var classicApplication: Application? {
        organization.classic.map {
            Application(
                id: ClassicPolicy.applicationID, name: organization.name, kind: .web, assignment: .init(everyone: true),
                signOnPolicy: $0.signOnPolicy)
        }
    }

    /// The application of a transaction; nil if it is gone.
    func application(of transaction: SignInTransaction) -> Application? {
        transaction.classic == nil ? application(transaction.applicationID) : classicApplication
    }
}
