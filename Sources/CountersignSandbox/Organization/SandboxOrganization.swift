internal import AuthorizationServer
internal import IdentityEngine

/// The organization of a sandbox, as its org file has it, with the people that it was given instead of the file's.
struct SandboxOrganization: Sendable {
    private let file: OrganizationDefinition

    /// Reads the text of an org file.
    ///
    /// - Parameter yaml: The text; nil for the usual sandbox.
    /// - Throws: `OrgFileError` with everything that is wrong.
    init(yaml: String?) throws {
        var file = try OrgFile.load(yaml: yaml ?? OrgFile.sandboxDefault, name: "the sandbox's organization").organization
        // Cheap hashes, which no org file can ask for: a sandbox's passwords are public anyway, and tests want to be fast.
        file.passwordPolicy.scryptLogN = 10
        self.file = file
    }

    /// The usual sandbox, read once; it is part of the package, so it can be read.
    static let usual = Result { try SandboxOrganization(yaml: nil) }

    var users: [SandboxUser] {
        file.users.map { SandboxUser(login: $0.login, password: $0.password, profile: $0.profile, groups: $0.groups) }
    }

    var applications: [SandboxApplication] {
        file.applications.map { SandboxApplication(clientID: $0.id, secret: $0.secret) }
    }

    func definition(origin: String, users: [SandboxUser]) -> OrganizationDefinition {
        var definition = file
        definition.origin = origin
        definition.users = users.map { UserDefinition(login: $0.login, profile: $0.profile, groups: $0.groups, password: $0.password) }
        return definition
    }
}
