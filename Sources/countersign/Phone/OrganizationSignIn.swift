import ArgumentParser
import AuthFoundation
import DeviceAuthenticator
import Foundation
import OktaDirectAuth

/// Signs the user in at the organization to change a phone enrollment. The token is kept only in memory and revoked after its use.
struct OrganizationSignIn: Sendable {
    private static let scope = "okta.myAccount.appAuthenticator.manage"

    let authenticator: DeviceAuthenticatorConfig
    let username: String
    let json: Bool
    /// Lets the user answer the push that this sign-in sends to this phone; `nil` if the phone cannot answer it.
    var answering: SelfAnswer?

    /// Asks for the password and, if required, an approval. Passes the token to `use`, and then revokes it.
    func token<Value: Sendable>(for use: (AuthToken) async throws -> Value) async throws -> Value {
        let host = authenticator.orgURL.absoluteString
        let password = try await PasswordPrompt.ask("Password of \(username) at \(host): ")
        let client = OAuth2Client(
            OAuth2Client.Configuration(issuerURL: authenticator.orgURL, clientId: authenticator.oidcClientId, scope: [Self.scope]))
        var signIn = DirectSignIn(client: client, notice: ApprovalNotice(json: json))
        if var answering {
            await answering.look()
            signIn.notice.isMoving = false
            signIn.meanwhile = { [answering] in await answering.run() }
        }
        let token = try await signIn.token(for: username, password: password)
        let result = await Result(of: { try await use(.bearer(token.accessToken)) })
        // Errors of the revocation are ignored, because the token expires soon.
        await TerminalClock.wait(atMost: .seconds(3)) { try? await client.revoke(token, type: .all) }
        return try result.get()
    }
}

/// The organization and the client for an enrollment, from flags or a property list.
struct OrganizationOptions: ParsableArguments {
    private static let sandbox = (issuer: "http://localhost:8080", clientID: "phone-app")

    @Option(
        name: [.customLong("issuer"), .customLong("org")],
        help: ArgumentHelp("The organization, or one of its issuers; by default the sandbox, \(sandbox.issuer).", valueName: "url"))
    var issuer: String?

    @Option(
        name: .customLong("client-id"),
        help: ArgumentHelp(
            "The client of the authenticator; by default the sandbox's, \(sandbox.clientID).", valueName: "id"))
    var clientID: String?

    @Option(
        help: ArgumentHelp(
            "A property list with the settings; by default Okta.plist in the working directory if it exists, unless --issuer is given.",
            valueName: "file"))
    var config: String?

    /// Whether any option was given.
    var isGiven: Bool { issuer != nil || clientID != nil || config != nil }

    /// Returns the settings. Flags override the file, and the file overrides the sandbox's defaults.
    func authenticator() throws -> DeviceAuthenticatorConfig {
        let list = try list()
        let text = issuer ?? list?.issuerURL.absoluteString ?? Self.sandbox.issuer
        let (issuer, id) = (URL(string: text), clientID ?? list?.clientId ?? Self.sandbox.clientID)
        // A host without a scheme is accepted. A scheme without a host is rejected, because the scheme would be parsed as a host.
        guard let issuer, !text.contains("://") || issuer.host()?.isEmpty == false,
            case let authenticator = DeviceAuthenticatorConfig(orgURL: issuer, oidcClientId: id),
            authenticator.orgURL.host()?.isEmpty == false
        else { throw ValidationError("“\(text)” is not an issuer. Use a URL such as \(Self.sandbox.issuer).") }
        return authenticator
    }

    private func list() throws -> OAuth2Client.PropertyListConfiguration? {
        if let config { return try OAuth2Client.PropertyListConfiguration(plist: URL(filePath: config)) }
        guard issuer == nil else { return nil }
        do {
            return try OAuth2Client.PropertyListConfiguration()
        } catch OAuth2Client.PropertyListConfigurationError.defaultPropertyListNotFound {
            return nil
        }
    }
}
