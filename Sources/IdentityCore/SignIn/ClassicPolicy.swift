internal import JOSE
internal import Store

/// What holds at the classic sign-in API, which knows no application: the organization itself asks there
/// (authn reference 1.2, 6.3 and 6.4).
package struct ClassicPolicy: Sendable, Equatable, Codable {
    /// Whether a device can stand in for the second factor after it was proved there once.
    package enum Remembering: Sendable, Equatable, Codable {
        /// Never.
        case never
        /// As long as the device brings its token, at most a year.
        case device
        /// For some minutes, 1 to 525,600.
        case time(minutes: Int)
    }

    /// A back end that may say more than anybody else: which device it speaks for.
    package struct TrustedCaller: Sendable, Equatable, Codable {
        /// What the system log calls it.
        package var name: String
        /// The SHA-256 of its token.
        package var tokenDigest: [UInt8]
        /// The addresses and networks, such as `10.0.0.0/8`, from which its `X-Forwarded-For` is believed; nil for none.
        package var gateways: [String]?

        /// Names a caller.
        ///
        /// - Parameters:
        ///   - name: What the system log calls it.
        ///   - token: What it sends in `Authorization: SSWS`; only its digest is kept.
        ///   - gateways: From where it says for whom it asks: what cannot be read as an address or a network is none.
        package init(name: String, token: String, gateways: [String]? = nil) {
            self.name = name
            tokenDigest = TicketDigest(of: token).bytes
            self.gateways = gateways
        }
    }

    /// The name of the sign-on policy that decides there.
    package var signOnPolicy: String
    /// Whether a locked account is told from a wrong password. That tells everybody which accounts there are.
    package var showsLockout: Bool
    /// Whether devices are remembered.
    package var remembering: Remembering
    /// Which factors people set up. Of those that are not named, authenticator apps and phones with push can be.
    package var factors: [Factor: Enrolling]
    /// Whether who has no factor is offered to set one up, at every sign-in until they do.
    package var offersOptional: Bool
    /// How people get back into an account whose password they forgot; empty for not at all.
    package var recovery: Set<CodeChannel>
    /// Whether they can unlock it in the same ways.
    package var unlocksBySelfService: Bool
    /// Who is believed more.
    package var trustedCallers: [TrustedCaller]
    /// The origins, beside the organization's own, whose pages may read what the API answers, and to which a browser may be sent after its
    /// session began.
    package var trustedOrigins: [String]

    /// Makes a policy; what is left out is the safe default.
    package init(
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
    package func caller(token: String) -> TrustedCaller? {
        let digest = TicketDigest(of: token).bytes
        // All of them, each in constant time: how long it takes tells nothing of any.
        return trustedCallers.reduce(nil) { found, caller in caller.tokenDigest.isSameSecret(as: digest) ? caller : found }
    }
}

extension OrgSnapshot {
    /// The back end that shows an API token.
    ///
    /// - Parameter token: The token.
    /// - Returns: Nil for nobody's.
    package func trustedCaller(token: String) -> ClassicPolicy.TrustedCaller? { organization.classic?.caller(token: token) }

    /// Whether pages of an origin are trusted: the organization's own, and those that its classic API names.
    ///
    /// - Parameter origin: As browsers write it: `https://portal.example.com`.
    /// - Returns: False for every other.
    package func isTrusted(origin: String) -> Bool {
        origin == self.origin || organization.classic?.trustedOrigins.contains(origin) == true
    }
}

extension ClassicPolicy {
    /// Stands for the organization where a sign-in wants an application. No application can be called so: ids have no colon.
    static let applicationID = "authn:api"
}

extension OrgSnapshot {
    /// What signs in by the classic API sign in to: the organization. Nil if the API is off.
    package var classicApplication: Application? {
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
