import AuthFoundation
import DeviceAuthenticator
import Foundation
import OktaDirectAuth

/// Signs the user in at the organization to change a phone enrollment. The token is kept in memory only and revoked after its use.
struct OrganizationSignIn: Sendable {
    private static let scope = "okta.myAccount.appAuthenticator.manage"

    let authenticator: DeviceAuthenticatorConfig
    let username: String
    let json: Bool
    /// Answers the push that this sign-in sends to this phone.
    var answering: SelfAnswer?

    /// Asks for the password and, if required, an approval, and passes the token to `use`.
    func token<Result: Sendable>(for use: (AuthToken) async throws -> Result) async throws -> Result {
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
        do {
            let result = try await use(.bearer(token.accessToken))
            await discard(token, of: client)
            return result
        } catch {
            await discard(token, of: client)
            throw error
        }
    }

    /// Revokes the token. Errors are ignored, because the token expires soon.
    private func discard(_ token: Token, of client: OAuth2Client) async {
        await TerminalClock.wait(atMost: .seconds(3)) { try? await client.revoke(token, type: .all) }
    }
}
