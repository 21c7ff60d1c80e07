public import JOSE

/// A user of the sandbox's organization.
public struct SandboxUser: Sendable, Equatable, Redacted {
    /// The sign-in name.
    public var login: String
    /// The password; `nil` for a user who cannot sign in with a password. Only sandboxes store the password in plain text.
    public var password: String?
    /// The Base32 secret of the initial authenticator app; `nil` for none. See ``Sandbox/currentAuthenticatorApp(of:)``.
    public var totpSecret: String?
    /// The user's counter-based hardware token; `nil` for none.
    public var counterDevice: CounterDevice?
    /// The initial status of the account.
    public var status: Status
    /// Whether the next sign-in on the pages asks for a new password.
    public var mustChangePassword: Bool
    /// The profile attributes by claim name.
    public var profile: [String: JSONValue]
    /// The names of the user's groups, which must exist in the organization.
    public var groups: [String]

    /// The status of an account.
    public enum Status: String, Sendable, CaseIterable {
        /// The user can sign in.
        case active
        /// The user has not signed in yet; the first sign-in uses ``Sandbox/activationToken(for:)``.
        case staged
        /// A suspended user cannot sign in for now; a deactivated user cannot sign in permanently.
        case suspended, deactivated
    }

    /// Creates a user.
    /// - Parameters:
    ///   - login: The sign-in name, an email address.
    ///   - password: The password, at least eight characters; `nil` for none.
    ///   - profile: The profile attributes by claim name. `email` and `name` default to the login.
    ///   - groups: The names of groups of the organization.
    ///   - totpSecret: The secret of an initial authenticator app: Base32 of at least 16 bytes; `nil` for none.
    ///   - mustChangePassword: Whether the next sign-in on the pages asks for a new password.
    public init(
        login: String, password: String?, profile: [String: JSONValue] = [:], groups: [String] = [], totpSecret: String? = nil,
        mustChangePassword: Bool = false, counterDevice: CounterDevice? = nil, status: Status = .active
    ) {
        self.login = login
        self.password = password
        self.profile = profile
        self.groups = groups
        self.totpSecret = totpSecret
        self.mustChangePassword = mustChangePassword
        self.counterDevice = counterDevice
        self.status = status
        if self.profile["email"] == nil { self.profile["email"] = .string(login) }
        if self.profile["name"] == nil { self.profile["name"] = .string(login) }
    }

    /// Jane Doe, `jane.doe@example.com` with the password `Correct-Horse-7`.
    public static let jane = usual("jane.doe@example.com", password: "Correct-Horse-7")
    /// John Roe, `john.roe@example.com` with the password `Battery-Staple-9`.
    public static let john = usual("john.roe@example.com", password: "Battery-Staple-9")

    private static func usual(_ login: String, password: String) -> SandboxUser {
        let known = try? SandboxOrganization.usual.get().users.first { $0.login == login }
        return known ?? SandboxUser(login: login, password: password)
    }

    /// Reads a user from the body of a control call.
    init(_ body: ControlBody) throws(ControlBody.Invalid) {
        try body.allow(["login", "password", "profile", "groups", "totp_secret", "must_change_password", "status"])
        self.init(
            login: try body.required("login", example: "jane.doe@example.com"), password: try body.text("password"),
            profile: try body.object("profile") ?? [:], groups: try body.texts("groups") ?? [], totpSecret: try body.text("totp_secret"),
            mustChangePassword: try body.flag("must_change_password") ?? false, status: try body.choice("status", Status.self) ?? .active)
    }

    /// The user in the JSON of the control API, without secrets.
    var json: JSONValue {
        [
            "login": .string(login), "status": .string(status.rawValue), "profile": .object(profile),
            "groups": .array(groups.map(JSONValue.string)),
        ]
    }
}

extension SandboxUser {
    /// The login and the status.
    public var description: String { "SandboxUser(\(login), \(status.rawValue))" }
}

/// A client application of the sandbox's organization.
public struct SandboxApplication: Sendable, Equatable, Redacted {
    /// The `client_id`.
    public let clientID: String
    /// The client secret; `nil` for a public client. Only sandboxes store the secret in plain text.
    public let secret: String?

    /// Creates a reference to an application of a custom organization. `secret` is `nil` for a public client.
    public init(clientID: String, secret: String? = nil) {
        self.clientID = clientID
        self.secret = secret
    }

    /// `password-app`: public, password and refresh tokens, one factor.
    public static let password = SandboxApplication(clientID: "password-app")
    /// `directauth-app`: public, direct authentication with two factors.
    public static let directAuth = SandboxApplication(clientID: "directauth-app")
    /// `browser-app`: public, authorization code with two factors on the server's pages; redirect URIs on loopback, and
    /// `com.example.app:/callback`.
    public static let browser = SandboxApplication(clientID: "browser-app")
    /// `web-app`: confidential, authorization code with one factor on the server's pages. Its site is `http://localhost:3000` or
    /// `http://127.0.0.1:3000`, with the redirect path `/callback`.
    public static let web = SandboxApplication(clientID: "web-app", secret: "web-app-secret-01")
    /// `phone-app`: public, enrolls phones at the org server; see ``Sandbox/phone(for:userVerification:session:)``.
    public static let phone = SandboxApplication(clientID: "phone-app")
    /// `service-app`: confidential, with the secret `service-app-secret`; client credentials with the scope `messages.read`.
    public static let service = SandboxApplication(clientID: "service-app", secret: "service-app-secret")
}

extension SandboxApplication {
    /// The client ID.
    public var description: String { "SandboxApplication(\(clientID))" }
}
