internal import IdentityEngine
internal import NIOConcurrencyHelpers

/// The people of a sandbox, and how they get into the engine.
final class People: Sendable {
    private let users: NIOLockedValueBox<[SandboxUser]>
    private let original: [SandboxUser]
    private let organization: SandboxOrganization
    private let origin: String
    private let engine: IdentityEngine
    private let clock: SandboxClock

    init(_ users: [SandboxUser], of organization: SandboxOrganization, origin: String, engine: IdentityEngine, clock: SandboxClock) {
        self.users = NIOLockedValueBox(users)
        original = users
        self.organization = organization
        self.origin = origin
        self.engine = engine
        self.clock = clock
    }

    var all: [SandboxUser] { users.withLockedValue { $0 } }

    func add(_ user: SandboxUser) async throws {
        let changed = users.withLockedValue { users in
            users.removeAll { $0.login.lowercased() == user.login.lowercased() }
            users.append(user)
            return users
        }
        try await apply(changed)
    }

    /// Back to the people that the sandbox started with.
    func reset() async throws {
        users.withLockedValue { $0 = original }
        try await apply(original)
    }

    func apply() async throws { try await apply(all) }

    private func apply(_ users: [SandboxUser]) async throws {
        _ = try await engine.apply(
            organization.definition(origin: origin, users: users), options: ApplyOptions(replacesPasswords: true),
            context: RequestContext(now: clock.now, requestID: "sandbox-apply"))
    }
}
