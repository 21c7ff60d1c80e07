internal import Foundation
internal import IdentityCore
internal import JOSE
internal import NIOConcurrencyHelpers

/// The current users and applications of the sandbox; applies changes to the engine. Changes run one at a time. A change that the engine
/// rejects has no effect. Safe from any task.
final class LiveOrganization: Sendable {
    private struct State: Sendable {
        var users: [SandboxUser]
        var applications: [Application]
        var origin = ""
    }

    private let state: NIOLockedValueBox<State>
    private let last = NIOLockedValueBox<Task<Void, any Error>?>(nil)
    private let original: State
    private let organization: SandboxOrganization
    private let engine: Engine
    private let clock: SandboxClock

    init(_ users: [SandboxUser], of organization: SandboxOrganization, engine: Engine, clock: SandboxClock) {
        original = State(users: users, applications: organization.definedApplications)
        state = NIOLockedValueBox(original)
        self.organization = organization
        self.engine = engine
        self.clock = clock
    }

    /// The origin of the sandbox; `nil` if it is not known yet.
    var knownOrigin: URL? { URL(string: state.withLockedValue { $0.origin }) }

    var users: [SandboxUser] { state.withLockedValue { $0.users } }

    var applications: [Application] { state.withLockedValue { $0.applications } }

    /// The definition that was last applied to the engine.
    var definition: OrganizationDefinition { definition(of: state.withLockedValue { $0 }) }

    /// Adds a user, or replaces the one with that login. Throws `OrganizationError` for an invalid user; then nothing is changed.
    func add(_ user: SandboxUser) async throws {
        try await change { state in
            state.users.removeAll { $0.login.lowercased() == user.login.lowercased() }
            state.users.append(user)
        }
    }

    /// Adds an application, or replaces the one with that ID.
    func add(_ application: Application) async throws {
        try await change { state in
            state.applications.removeAll { $0.id == application.id }
            state.applications.append(application)
        }
    }

    /// Applies the organization with this origin. Later calls change the origin.
    func apply(origin: URL) async throws {
        try await change { $0.origin = origin.absoluteString }
    }

    /// Restores the initial users and applications, and clears everything else from the engine. `make` creates signing keys.
    func reset(making make: @escaping @Sendable (JWSAlgorithm) throws -> SigningKey) async throws {
        try await change { [original] state in
            (state.users, state.applications) = (original.users, original.applications)
        } by: { [engine] definition, context in
            try await engine.startOver(with: definition, context: context, making: make)
        }
    }

    private func change(_ edit: @escaping @Sendable (inout State) -> Void) async throws {
        try await change(edit) { [engine] definition, context in
            _ = try await engine.apply(definition, options: ApplyOptions(replacesPasswords: true), context: context)
        }
    }

    /// Makes a change after all changes that were requested earlier.
    private func change(
        _ edit: @escaping @Sendable (inout State) -> Void,
        by write: @escaping @Sendable (OrganizationDefinition, RequestContext) async throws -> Void
    ) async throws {
        let task = last.withLockedValue { last in
            let task = Task { [previous = last] in
                _ = await previous?.result
                var next = state.withLockedValue { $0 }
                edit(&next)
                try await write(definition(of: next), RequestContext(now: clock.now, requestID: "sandbox-apply"))
                state.withLockedValue { [next] in $0 = next }
            }
            last = task
            return task
        }
        try await task.value
    }

    private func definition(of state: State) -> OrganizationDefinition {
        organization.definition(origin: state.origin, users: state.users, applications: state.applications)
    }
}
