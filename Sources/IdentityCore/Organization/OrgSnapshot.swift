internal import Store

/// The organization's configuration at one moment: decoded, indexed, immutable. A request takes one snapshot at its start and uses it for
/// all decisions. A class, because requests pass it on often and a copy of the value would retain each member. Safe from any thread.
package final class OrgSnapshot: Sendable {
    /// The whole configuration, without users.
    package let organization: OrganizationDefinition
    package let keyRing: SigningKeyRing
    /// The configuration version of the store.
    package let version: Int64

    /// The keys of values that a rotation of the master key does not change.
    package let derivedKeys: DerivedKeys
    /// The place of the master key that sealed the store.
    let sealingKey: Int

    private let applicationsByID: [String: Application]
    private let serversByID: [String: AuthorizationServerDefinition]
    private let signOnPoliciesByName: [String: SignOnPolicy]

    /// Reads the configuration from one consistent view.
    init(_ view: any StoreView, version: Int64, environment: EngineEnvironment) throws {
        guard let record = try view.record(.organization, id: OrganizationSettings.reference.id) else {
            throw StoreError(
                .damaged, "The store holds no organization. Apply an org file first: countersign serve --config org.yaml.")
        }
        let check = try MasterKeyCheck(environment).verify(view)
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
            systemLog: settings.systemLog ?? SystemLogPolicy(),
            authenticators: try values(.authenticator, StoredAuthenticator.self).map { try $0.opened(environment: environment) },
            dpop: settings.dpop ?? DPoPPolicy(), classic: settings.classic,
            callingCodes: settings.callingCodes, passkeys: settings.passkeys, savedCodes: settings.savedCodes,
            mfaTokenLifetime: settings.mfaTokenLifetime ?? OrganizationDefinition.defaultMFATokenLifetime)
        self.version = version
        derivedKeys = check.derived
        sealingKey = check.key
        keyRing = try SigningKeyRing(records: try view.allRecords(.signingKey), masterKeys: environment.masterKeys)
        applicationsByID = Dictionary(applications.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        serversByID = Dictionary(servers.map { ($0.recordID, $0) }, uniquingKeysWith: { first, _ in first })
        signOnPoliciesByName = Dictionary(policies.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The organization's id, which is the `idp` claim of its users.
    package var id: String { organization.id }
    /// The origin of the server, which is the org server's issuer.
    package var origin: String { organization.origin }
    /// The applications, ordered by id.
    package var applications: [Application] { organization.applications }
    /// The authorization servers; the org server is first.
    package var servers: [AuthorizationServerDefinition] { organization.authorizationServers }
    /// The push authenticators, including inactive ones.
    package var authenticators: [PushAuthenticator] { organization.authenticators }
    package var passwordPolicy: PasswordPolicy { organization.passwordPolicy }
    package var rateLimits: RateLimits { organization.rateLimits }
    package var sessions: SessionPolicy { organization.sessions }
    package var keyRotation: KeyRotation { organization.keyRotation }
    package var systemLog: SystemLogPolicy { organization.systemLog }
    /// Seconds for which an `mfa_token` is valid after the first factor.
    package var mfaTokenLifetime: Int { organization.mfaTokenLifetime }
    package var dpop: DPoPPolicy { organization.dpop }

    /// Returns the application with a `client_id`, active or not; `nil` if there is none.
    package func application(_ id: String) -> Application? {
        // Oversized input is rejected before hashing, which takes quadratic time in the number of combining marks.
        id.utf8.count <= Application.longestID ? applicationsByID[id] : nil
    }

    /// Returns the authorization server with an id; `nil` is the id of the org server.
    package func server(_ id: String?) -> AuthorizationServerDefinition? { serversByID[id ?? "."] }

    /// Returns the issuer of a server's tokens: the origin, followed by `/oauth2/{id}` for a custom server.
    package func issuer(of server: AuthorizationServerDefinition) -> String {
        server.id.map { "\(origin)/oauth2/\($0)" } ?? origin
    }

    /// Returns the audience of a server's access tokens: the configured audience, or the issuer for the org server.
    package func audience(of server: AuthorizationServerDefinition) -> String {
        server.id == nil ? origin : server.audience ?? issuer(of: server)
    }

    /// Returns the authenticator with an id, active or not; `nil` if there is none.
    package func authenticator(_ id: String) -> PushAuthenticator? { authenticators.first { $0.id == id } }

    package func signOnPolicy(named name: String) -> SignOnPolicy? { signOnPoliciesByName[name] }
}
