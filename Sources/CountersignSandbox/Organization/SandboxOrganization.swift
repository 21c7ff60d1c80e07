internal import AuthorizationServer
internal import IdentityCore
internal import SignInPages

/// The organization of a sandbox, as its org file has it, with the people that it was given instead of the file's.
struct SandboxOrganization: Sendable {
    private var file: OrganizationDefinition
    /// How its pages look.
    let branding: Branding

    /// Reads the text of an org file.
    ///
    /// - Parameter yaml: The text; nil for the usual sandbox.
    /// - Throws: `OrgFileError` with everything that is wrong.
    init(yaml: String?) throws {
        self.init(
            file: try OrgFile.load(yaml: yaml ?? OrgFile.sandboxDefault, name: "the sandbox's organization", hasTokenService: true))
    }

    /// Takes an org file that was read.
    init(file read: OrgFile) {
        var file = read.organization
        // Cheap hashes, which no org file can ask for: a sandbox's passwords are public anyway, and tests want to be fast.
        file.passwordPolicy.scryptLogN = 10
        self.file = file
        branding = read.branding
    }

    /// The usual sandbox, read once; it is part of the package, so it can be read.
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

    /// The applications, as the file defines them.
    var definedApplications: [Application] { file.applications }

    /// The authenticators that confirm sign-ins by push.
    var authenticators: [PushAuthenticator] { file.authenticators }

    /// The organization with credentials for the authenticators that bring none, so that pushes can be sent.
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
    /// The org file of a sandbox that is given none, in YAML: the basis of one with another policy.
    public static var standardOrganization: String { OrgFile.sandboxDefault }
}
