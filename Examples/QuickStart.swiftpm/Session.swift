import BrowserSignin
import Foundation
import Observation

/// The session of the user. The stored credential is its only state: the user stays signed in after a restart of the app.
@MainActor
@Observable
final class Session {
    /// The app as a client of `countersign sandbox`. For your own server, change the issuer, the client and the URIs, which must be
    /// registered for the client.
    private static let settings = [
        "issuer": "http://localhost:8080/oauth2/default", "clientId": "sso-app", "scopes": "openid profile offline_access",
        "redirectUri": "com.example.sso:/callback", "logoutRedirectUri": "com.example.sso:/",
    ]

    /// The name of the signed-in user; `nil` without a user.
    private(set) var user = Session.storedUser
    private(set) var isLoading = false
    /// The error of the last sign-in or sign-out; `nil` for none.
    private(set) var errorMessage: String?

    private static var storedUser: String? {
        Credential.default.map { $0.token.idToken?.preferredUsername ?? $0.token.idToken?.subject ?? "" }
    }

    /// Signs the user in, or out if there is one.
    func signInOrOut() async {
        (isLoading, errorMessage) = (true, nil)
        do {
            let browser = try browser()
            if let credential = Credential.default {
                // Ends the session in the browser, revokes the tokens and removes them from this device.
                if let failure = await browser.signOut(credential: credential, ending: .all).failure { throw failure }
            } else {
                try Credential.setDefault(Credential.store(try await browser.signIn()))
            }
        } catch BrowserSigninError.userCancelledLogin {
            // The user closed the page, which is not an error.
        } catch {
            errorMessage = error.localizedDescription
        }
        (isLoading, user) = (false, Self.storedUser)
    }

    private func browser() throws -> BrowserSignin {
        let client = try OAuth2Client(OAuth2Client.PropertyListConfiguration(Self.settings))
        let browser = BrowserSignin(loginFlow: try AuthorizationCodeFlow(client: client), logoutFlow: SessionLogoutFlow(client: client))
        // The browser keeps no session: the next sign-in asks for the password again.
        browser.ephemeralSession = true
        return browser
    }
}
