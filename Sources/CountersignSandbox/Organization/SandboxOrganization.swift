internal import AuthorizationServer
internal import IdentityCore
internal import SignInPages

/// The organization of a sandbox, read from an org file. The sandbox's users replace those of the file.
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
        // Cheap password hashes, which an org file cannot select: a sandbox's passwords are public, and tests must be fast.
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

    /// Returns the organization with these credentials for authenticators without any, so that pushes can be sent.
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
