internal import Store

/// The organization's configuration at one moment: decoded, indexed, immutable.
///
/// A request takes one snapshot at its start and decides everything by it. Safe from any thread.
package struct OrgSnapshot: Sendable {
    /// The whole of it, without the people.
    package let organization: OrganizationDefinition
    /// The keys that sign and that are published.
    package let keyRing: SigningKeyRing
    /// The store's configuration version that this was read at.
    package let version: Int64

    private let applicationsByID: [String: Application]
    private let serversByID: [String: AuthorizationServerDefinition]
    private let signOnPoliciesByName: [String: SignOnPolicy]

    /// The organization's id, its users' `idp` claim.
    package var id: String { organization.id }
    /// The origin of the server, which is the org server's issuer.
    package var origin: String { organization.origin }
    /// The applications, by id.
    package var applications: [Application] { organization.applications }
    /// The authorization servers, the org server first.
    package var servers: [AuthorizationServerDefinition] { organization.authorizationServers }
    /// The authenticators that confirm sign-ins by push, those that are off among them.
    package var authenticators: [PushAuthenticator] { organization.authenticators }
    /// Password rules and lockout.
    package var passwordPolicy: PasswordPolicy { organization.passwordPolicy }
    /// Limits on requests.
    package var rateLimits: RateLimits { organization.rateLimits }
    /// How long people stay signed in with a browser.
    package var sessions: SessionPolicy { organization.sessions }
    /// When signing keys change.
    package var keyRotation: KeyRotation { organization.keyRotation }
    /// Seconds for which an `mfa_token` is valid after the first factor.
    package var mfaTokenLifetime: Int { organization.mfaTokenLifetime }
    /// What is asked of proofs of possession.
    package var dpop: DPoPPolicy { organization.dpop }

    /// The application with a client id.
    ///
    /// - Parameter id: The `client_id`.
    /// - Returns: It, active or not; nil if there is none.
    package func application(_ id: String) -> Application? {
        // What a stranger sends is not hashed before it can be an id: hashing text takes the square of its combining marks.
        id.utf8.count <= Application.longestID ? applicationsByID[id] : nil
    }

    /// An authorization server.
    ///
    /// - Parameter id: Its id; nil for the org server.
    /// - Returns: It; nil if there is none.
    package func server(_ id: String?) -> AuthorizationServerDefinition? { serversByID[id ?? "."] }

    /// The issuer of a server's tokens.
    ///
    /// - Parameter server: One of this organization's servers.
    /// - Returns: The origin, followed by `/oauth2/{id}` for a custom server.
    package func issuer(of server: AuthorizationServerDefinition) -> String {
        server.id.map { "\(origin)/oauth2/\($0)" } ?? origin
    }

    /// The audience of a server's access tokens.
    ///
    /// - Parameter server: One of this organization's servers.
    /// - Returns: Its configured audience; the org server's is its issuer.
    package func audience(of server: AuthorizationServerDefinition) -> String {
        server.id == nil ? origin : server.audience ?? issuer(of: server)
    }

    /// An authenticator.
    ///
    /// - Parameter id: Its id.
    /// - Returns: It, on or off; nil if there is none.
    package func authenticator(_ id: String) -> PushAuthenticator? { authenticators.first { $0.id == id } }

    /// A sign-on policy.
    ///
    /// - Parameter name: The name that an application gives.
    /// - Returns: It; nil if there is none.
    package func signOnPolicy(named name: String) -> SignOnPolicy? { signOnPoliciesByName[name] }
}

extension OrgSnapshot {
    /// Reads the configuration from one consistent view.
    init(_ view: any StoreView, version: Int64, environment: EngineEnvironment) throws {
        guard let record = try view.record(.organization, id: OrganizationSettings.reference.id) else {
            throw StoreError(
                .damaged, "The store holds no organization. Apply an org file first: countersign serve --config org.yaml.")
        }
        _ = try MasterKeyCheck(environment).verify(view)
        let settings = try RecordCoding.decode(Configured<OrganizationSettings>.self, from: record).value
        func values<Value: Codable & Sendable>(_ kind: RecordKind, _ type: Value.Type) throws -> [Value] {
            try view.allRecords(kind).map { try RecordCoding.decode(Configured<Value>.self, from: $0).value }
        }
        let applications = try values(.application, StoredApplication.self).map { try $0.opened(environment: environment) }
        let servers = try values(.authorizationServer, AuthorizationServerDefinition.self)
        let policies = try values(.signOnPolicy, SignOnPolicy.self)
        organization = OrganizationDefinition(
            id: settings.id, name: settings.name, origin: settings.origin, authorizationServers: servers, applications: applications,
            groups: try values(.group, Group.self), signOnPolicies: policies,
            passwordPolicy: try values(.passwordPolicy, PasswordPolicy.self).first ?? PasswordPolicy(), rateLimits: settings.rateLimits,
            sessions: settings.sessions ?? SessionPolicy(), keyRotation: settings.keyRotation,
            authenticators: try values(.authenticator, StoredAuthenticator.self).map { try $0.opened(environment: environment) },
            dpop: settings.dpop ?? DPoPPolicy(), classic: settings.classic,
            callingCodes: settings.callingCodes,
            mfaTokenLifetime: settings.mfaTokenLifetime ?? OrganizationDefinition.defaultMFATokenLifetime)
        self.version = version
        keyRing = try SigningKeyRing(records: try view.allRecords(.signingKey), masterKey: environment.masterKey)
        applicationsByID = Dictionary(applications.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        serversByID = Dictionary(servers.map { ($0.recordID, $0) }, uniquingKeysWith: { first, _ in first })
        signOnPoliciesByName = Dictionary(policies.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }
}
