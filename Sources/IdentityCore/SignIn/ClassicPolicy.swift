internal import JOSE
internal import Store

/// The settings of the classic sign-in API, where users sign in to the organization itself (Documentation/Protocol/Authn.md §1.2, §6.3 and
/// §6.4).
package struct ClassicPolicy: Sendable, Equatable, Codable {
    /// The time for which a device replaces the second factor after the user proved the factor there.
    package enum Remembering: Sendable, Equatable, Codable {
        case never
        /// As long as the device presents its token, at most one year.
        case device
        /// A number of minutes, 1 to 525,600.
        case time(minutes: Int)
    }

    /// A trusted back end, which may name the user's device and address.
    package struct TrustedCaller: Sendable, Equatable, Codable {
        /// The caller's name in the system log.
        package var name: String
        /// The SHA-256 digest of the caller's token.
        package var tokenDigest: [UInt8]
        /// The addresses and networks, such as `10.0.0.0/8`, from which the caller's `X-Forwarded-For` is trusted; `nil` for none.
        package var gateways: [String]?
        /// Whether the caller may read the system log; `nil` for no.
        package var readsLogs: Bool?

        /// Creates a caller, which sends `token` in `Authorization: SSWS`. Only the digest of the token is kept. Invalid `gateways` are
        /// ignored.
        package init(name: String, token: String, gateways: [String]? = nil, readsLogs: Bool = false) {
            self.name = name
            tokenDigest = TicketDigest(of: token).bytes
            self.gateways = gateways
            self.readsLogs = readsLogs ? true : nil
        }
    }

    /// The name of the sign-on policy for these sign-ins.
    package var signOnPolicy: String
    /// Whether responses distinguish a locked account from a wrong password. The difference reveals which accounts exist.
    package var showsLockout: Bool
    package var remembering: Remembering
    /// The rules for the enrollment of factors. By default, authenticator apps and push are optional, and other factors are not allowed.
    package var factors: [Factor: Enrolling]
    /// Whether a user without a factor is offered the optional factors at every sign-in.
    package var offersOptional: Bool
    /// The channels for the recovery of a forgotten password; empty if users cannot recover it.
    package var recovery: Set<CodeChannel>
    /// Whether users can unlock their account through the same channels.
    package var unlocksBySelfService: Bool
    package var trustedCallers: [TrustedCaller]
    /// Additional origins whose pages may read responses, and to which a browser may be redirected after its session starts.
    package var trustedOrigins: [String]

    package init(
        signOnPolicy: String, showsLockout: Bool = false, remembering: Remembering = .never, factors: [Factor: Enrolling] = [:],
        offersOptional: Bool = false, recovery: Set<CodeChannel> = [], unlocksBySelfService: Bool = false,
        trustedCallers: [TrustedCaller] = [],
        trustedOrigins: [String] = []
    ) {
        (self.signOnPolicy, self.showsLockout, self.remembering, self.factors) = (signOnPolicy, showsLockout, remembering, factors)
        (self.offersOptional, self.recovery, self.unlocksBySelfService) = (offersOptional, recovery, unlocksBySelfService)
        (self.trustedCallers, self.trustedOrigins) = (trustedCallers, trustedOrigins)
    }

    /// Returns the caller with this token; `nil` for an unknown token.
    package func caller(token: String) -> TrustedCaller? {
        let digest = TicketDigest(of: token).bytes
        // Compares with every caller in constant time, so that the duration reveals nothing.
        return trustedCallers.reduce(nil) { found, caller in caller.tokenDigest.isSameSecret(as: digest) ? caller : found }
    }
}

extension OrgSnapshot {
    /// Returns the trusted back end with this API token; `nil` for an unknown token.
    package func trustedCaller(token: String) -> ClassicPolicy.TrustedCaller? { organization.classic?.caller(token: token) }

    /// Whether an origin, such as `https://portal.example.com`, is the organization's own or trusted by the classic API.
    package func isTrusted(origin: String) -> Bool {
        origin == self.origin || organization.classic?.trustedOrigins.contains(origin) == true
    }
}

extension ClassicPolicy {
    /// The application id of sign-ins to the organization. No application can have this id, because ids of applications contain no colon.
    static let applicationID = "authn:api"
}

extension OrgSnapshot {
    /// The organization as the application of classic sign-ins; `nil` if the API is off.
    package var classicApplication: Application? {
        organization.classic.map {
            Application(
                id: ClassicPolicy.applicationID, name: organization.name, kind: .web, assignment: .init(everyone: true),
                signOnPolicy: $0.signOnPolicy)
        }
    }

    /// Returns the application of a transaction; `nil` if the application no longer exists.
    func application(of transaction: SignInTransaction) -> Application? {
        transaction.isForOrganization ? classicApplication : application(transaction.applicationID)
    }
}
