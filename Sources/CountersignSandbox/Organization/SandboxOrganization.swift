internal import AuthorizationServer
internal import Foundation
internal import IdentityCore
internal import JOSE
internal import NIOConcurrencyHelpers
internal import SignInPages

/// The organization of a sandbox, read from an org file. The sandbox's users replace the users of the file.
struct SandboxOrganization: Sendable {
    private var file: OrganizationDefinition
    /// The appearance of the hosted pages.
    let branding: Branding

    /// Reads the text of an org file; `nil` for the default organization. Throws `OrgFileError` with all problems of the file.
    init(yaml: String?) throws {
        self.init(
            file: try OrgFile.load(yaml: yaml ?? OrgFile.sandboxDefault, name: "the sandbox's organization", hasTokenService: true))
    }

    init(file read: OrgFile) {
        var file = read.organization
        // An org file cannot select password hashes this cheap. A sandbox's passwords are public, and tests must be fast.
        file.passwordPolicy.scryptLogN = 10
        self.file = file
        branding = read.branding
    }

    /// The default organization, read once.
    static let usual = Result { try SandboxOrganization(yaml: nil) }

    var users: [SandboxUser] {
        file.users.map {
            SandboxUser(
                login: $0.login, password: $0.password, profile: $0.profile, groups: $0.groups, totpSecret: $0.totpSecret,
                mustChangePassword: $0.mustChangePassword, counterDevice: $0.hardwareDevice.map(CounterDevice.init),
                status: SandboxUser.Status($0.status))
        }
    }

    var name: String { file.name }

    /// The applications as defined in the file.
    var definedApplications: [Application] { file.applications }

    /// The authenticators for push approvals.
    var authenticators: [PushAuthenticator] { file.authenticators }

    /// Returns the organization with these credentials for each authenticator that has none, so that pushes can be sent.
    func pushing(with credentials: PushAuthenticator.Credentials) -> SandboxOrganization {
        var organization = self
        for index in file.authenticators.indices where file.authenticators[index].credentials == nil {
            organization.file.authenticators[index].credentials = credentials
        }
        return organization
    }

    func definition(origin: String, users: [SandboxUser], applications: [Application]) -> OrganizationDefinition {
        var definition = file
        definition.origin = origin
        definition.applications = applications
        definition.users = users.map {
            UserDefinition(
                login: $0.login, profile: $0.profile, groups: $0.groups, password: $0.password, totpSecret: $0.totpSecret,
                hardwareDevice: $0.counterDevice.map(UserDefinition.HardwareDevice.init), status: User.Status($0.status),
                mustChangePassword: $0.mustChangePassword)
        }
        return definition
    }
}

extension CounterDevice {
    fileprivate init(_ device: UserDefinition.HardwareDevice) {
        self.init(secret: device.secret, credentialID: device.credentialID, counter: device.counter)
    }
}

extension UserDefinition.HardwareDevice {
    fileprivate init(_ device: CounterDevice) {
        self.init(secret: device.secret, credentialID: device.credentialID, counter: device.counter)
    }
}

extension SandboxUser.Status {
    fileprivate init(_ status: User.Status) {
        switch status {
        case .active: self = .active
        case .staged: self = .staged
        case .suspended: self = .suspended
        case .deactivated: self = .deactivated
        }
    }
}

extension User.Status {
    fileprivate init(_ status: SandboxUser.Status) {
        switch status {
        case .active: self = .active
        case .staged: self = .staged
        case .suspended: self = .suspended
        case .deactivated: self = .deactivated
        }
    }
}

extension Sandbox {
    /// The default org file of a sandbox, in YAML: a starting point for other policies.
    public static var standardOrganization: String { OrgFile.sandboxDefault }
}

/// The current users and applications of the sandbox. Their changes are applied to the engine. Changes run one at a time. A change that the
/// engine rejects has no effect. Safe from any task.
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

    /// Adds a user, or replaces the user with the same login. Throws `OrganizationError` for an invalid user; then nothing is changed.
    func add(_ user: SandboxUser) async throws {
        try await change { state in
            state.users.removeAll { $0.login.lowercased() == user.login.lowercased() }
            state.users.append(user)
        }
    }

    /// Adds an application, or replaces the application with the same ID.
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
