public import JOSE

/// A client application of the sandbox's organization.
public struct SandboxApplication: Sendable, Equatable, Redacted {
    /// The `client_id`.
    public let clientID: String
    /// The client secret; nil for a public client. Sandboxes are the only place where it is kept readable.
    public let secret: String?

    /// Names an application of an organization of your own.
    ///
    /// - Parameters:
    ///   - clientID: The `client_id`.
    ///   - secret: The client secret; nil for a public client.
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
    /// `web-app`: confidential, authorization code with one factor on the server's pages; its site is at
    /// `http://localhost:3000` or `http://127.0.0.1:3000`, and sign-in returns to `/callback`.
    public static let web = SandboxApplication(clientID: "web-app", secret: "web-app-secret-01")
    /// `phone-app`: public, enrolls phones at the org server; see ``Sandbox/phone(for:userVerification:session:)``.
    public static let phone = SandboxApplication(clientID: "phone-app")
    /// `service-app`: confidential, with the secret `service-app-secret`; client credentials with the scope `messages.read`.
    public static let service = SandboxApplication(clientID: "service-app", secret: "service-app-secret")
}

extension SandboxApplication {
    /// The client id.
    public var description: String { "SandboxApplication(\(clientID))" }
}
