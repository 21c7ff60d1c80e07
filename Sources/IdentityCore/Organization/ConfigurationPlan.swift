internal import Store

/// The writes that make the configuration records match a definition.
struct ConfigurationPlan {
    private(set) var changes: [Change] = []
    private(set) var entries: [ApplyReport.Entry] = []
    private let view: any StoreView
    private let environment: EngineEnvironment

    /// The organization's id: the definition's, the stored one, or a new one.
    private(set) var organizationID = ""
    /// The stored origin, if the definition changes it; otherwise `nil`.
    private(set) var previousOrigin: String?

    init(_ definition: OrganizationDefinition, view: any StoreView, environment: EngineEnvironment) throws {
        self.view = view
        self.environment = environment
        try planSettings(definition)
        try plan(
            .authorizationServer, definition.authorizationServers.map { ($0.recordID, $0.id ?? "(org)", $0) },
            stored: { $0 }, plain: { (stored: AuthorizationServerDefinition) in stored })
        try plan(
            .application, definition.applications.map { ($0.id, $0.id, $0) },
            stored: { [environment] in try StoredApplication(sealing: $0, environment: environment) },
            plain: { [environment] (stored: StoredApplication) in try stored.opened(environment: environment) })
        try plan(
            .authenticator, definition.authenticators.map { ($0.id, $0.id, $0) },
            stored: { [environment] in try StoredAuthenticator(sealing: $0, environment: environment) },
            plain: { [environment] (stored: StoredAuthenticator) in try stored.opened(environment: environment) })
        try plan(.group, definition.groups.map { ($0.name, $0.name, $0) }, stored: { $0 }, plain: { (stored: Group) in stored })
        try plan(
            .signOnPolicy, definition.signOnPolicies.map { ($0.name, $0.name, $0) }, stored: { $0 },
            plain: { (stored: SignOnPolicy) in stored })
        try plan(
            .passwordPolicy, [(OrganizationSettings.passwordPolicyReference.id, "password policy", definition.passwordPolicy)],
            stored: { $0 }, plain: { (stored: PasswordPolicy) in stored })
    }

    private mutating func planSettings(_ definition: OrganizationDefinition) throws {
        let known = try view.record(.organization, id: OrganizationSettings.reference.id)
            .map { try RecordCoding.decode(Configured<OrganizationSettings>.self, from: $0).value }
        if let known, known.origin != definition.origin { previousOrigin = known.origin }
        organizationID = try definition.id.isEmpty ? known?.id ?? environment.random.identifier(prefix: "00o") : definition.id
        let settings = OrganizationSettings(
            id: organizationID, name: definition.name, origin: definition.origin, rateLimits: definition.rateLimits,
            sessions: definition.sessions == SessionPolicy() ? nil : definition.sessions, keyRotation: definition.keyRotation,
            dpop: definition.dpop == DPoPPolicy() ? nil : definition.dpop, classic: definition.classic,
            callingCodes: definition.callingCodes,
            mfaTokenLifetime: definition.mfaTokenLifetime == OrganizationDefinition.defaultMFATokenLifetime
                ? nil : definition.mfaTokenLifetime,
            systemLog: definition.systemLog == SystemLogPolicy() ? nil : definition.systemLog, passkeys: definition.passkeys,
            savedCodes: definition.savedCodes)
        try plan(
            .organization, [(OrganizationSettings.reference.id, definition.name, settings)], stored: { $0 },
            plain: { (stored: OrganizationSettings) in stored })
        if let previousOrigin, let index = entries.firstIndex(where: { $0.kind == .organization && $0.action == .changed }) {
            entries[index].note = "origin \(previousOrigin) → \(definition.origin)"
        }
    }

    /// Plans one kind of record: writes records that differ, and removes records that only an earlier definition contained.
    private mutating func plan<Value: Equatable, Stored: Codable & Sendable>(
        _ kind: RecordKind, _ wanted: [(id: String, name: String, value: Value)], stored: (Value) throws -> Stored,
        plain: (Stored) throws -> Value
    ) throws {
        let existing = Dictionary(try view.allRecords(kind).map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        for (id, name, value) in wanted.sorted(by: { $0.id < $1.id }) {
            let record = existing[id]
            let known = try record.map { try RecordCoding.decode(Configured<Stored>.self, from: $0) }
            // The master key was verified, so a secret that does not open was sealed by a start with a wrong key and is sealed again.
            if let known, known.origin == .file, (try? plain(known.value)) == value {
                entries.append(ApplyReport.Entry(action: .unchanged, kind: kind, name: name))
                continue
            }
            let payload = try RecordCoding.encode(Configured(origin: .file, value: try stored(value)))
            changes.append(.put(Record(kind: kind, id: id, version: record?.version ?? 0, payload: payload)))
            entries.append(ApplyReport.Entry(action: known == nil ? .created : .changed, kind: kind, name: name))
        }
        let named = Set(wanted.map(\.id))
        for record in existing.values.sorted(by: { $0.id < $1.id }) where !named.contains(record.id) {
            guard try RecordCoding.decode(Configured<Stored>.self, from: record).origin == .file else { continue }
            changes.append(.remove(kind, id: record.id, version: record.version))
            entries.append(ApplyReport.Entry(action: .removed, kind: kind, name: record.id))
        }
    }
}
