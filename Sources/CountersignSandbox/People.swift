internal import Foundation
internal import IdentityEngine
internal import NIOConcurrencyHelpers

/// The people of a sandbox, and how they get into the engine.
final class People: Sendable {
    private let users: NIOLockedValueBox<[SandboxUser]>
    private let original: [SandboxUser]
    private let organization: SandboxOrganization
    private let origin = NIOLockedValueBox("")
    private let engine: IdentityEngine
    private let clock: SandboxClock

    init(_ users: [SandboxUser], of organization: SandboxOrganization, engine: IdentityEngine, clock: SandboxClock) {
        self.users = NIOLockedValueBox(users)
        original = users
        self.organization = organization
        self.engine = engine
        self.clock = clock
    }

    /// Where the sandbox is reached, as far as it was told.
    var knownOrigin: URL? { URL(string: origin.withLockedValue { $0 }) }

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
        try await apply(original, restoresApps: true)
    }

    /// Writes the organization down, or again with another origin.
    func apply(origin: URL) async throws {
        self.origin.withLockedValue { $0 = origin.absoluteString }
        try await apply(all)
    }

    private func apply(_ users: [SandboxUser], restoresApps: Bool = false) async throws {
        var options = ApplyOptions(replacesPasswords: true)
        options.restoresApps = restoresApps
        _ = try await engine.apply(
            organization.definition(origin: origin.withLockedValue { $0 }, users: users), options: options,
            context: RequestContext(now: clock.now, requestID: "sandbox-apply"))
    }
}
