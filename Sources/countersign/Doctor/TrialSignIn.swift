import AuthFoundation
import Foundation
import OAuth2Auth
import OktaDirectAuth

/// Signs in to test the configuration: as a named user, or as a user who cannot exist. The issuer reports problems of the client, the grant
/// and the scopes to any caller. It reports problems of the account and of its access policy only after the correct password.
struct TrialSignIn {
    struct Person {
        let name: String
        /// The password as a factor, because its description is redacted.
        let password: DirectAuthenticationFlow.PrimaryFactor

        init(name: String, password: String) {
            self.name = name
            self.password = .password(password)
        }

        /// A user who cannot exist: the top-level domain `invalid` is reserved (RFC 2606).
        fileprivate static let decoy = Person(name: decoyName, password: "countersign-doctor")
    }

    static let decoyName = "countersign.doctor@invalid"

    let client: OAuth2Client
    /// The user of the trial; `nil` for a user who cannot exist.
    let person: Person?
    /// Whether the client can sign users in through a browser.
    var hasBrowser = false

    private var clientID: String { client.configuration.clientId }
    private var scopes: String { client.configuration.scope.joined(separator: " ") }

    func run() async -> [Finding] {
        let who = person ?? .decoy
        do {
            switch try await DirectAuthenticationFlow(client: client).start(who.name, with: who.password) {
            case .success(let token): return await signedIn(token)
            case .mfaRequired, .continuation: return [passwordTaken]
            }
        } catch {
            switch OAuth2Error(error) {
            case .server(let refusal): return [finding(for: refusal)]
            case .network: return [.wrong("Client", "The token endpoint can't be asked: \(Outcome.explain(error))")]
            default: return [.wrong("Sign-in", "What the token endpoint gives is not acceptable: \(Outcome.explain(error))")]
            }
        }
    }

    /// Reports the sign-in and revokes its tokens.
    private func signedIn(_ token: Token) async -> [Finding] {
        var findings: [Finding] = [
            person.map { .right("Sign-in", "\($0.name) can sign in.") }
                ?? .warning("Client", "The issuer accepted a user that cannot exist. Check that it is the right server.")
        ]
        do {
            try await client.revoke(token, type: .all)
        } catch {
            findings.append(
                .warning("Sign-in", "The tokens of the trial could not be revoked, and end by themselves: \(Outcome.explain(error))"))
        }
        return findings
    }

    private var passwordTaken: Finding {
        guard let person else { return unknownBeyondGrant }
        return .right("Sign-in", "The password of \(person.name) is correct; the issuer asks for a second factor.")
    }

    private var unknownBeyondGrant: Finding {
        .right(
            "Client",
            "\(clientID) may use the password grant. To check the access rules and the app's assignment too, name a user with --user."
        )
    }

    private func finding(for refusal: OAuth2ServerError) -> Finding {
        switch refusal.code {
        case .invalidGrant:
            guard let person else { return unknownBeyondGrant }
            return .wrong(
                "Password",
                "The issuer refuses \(person.name) with this password. It does not say whether the name or the password is wrong, or the account locked or suspended; its system log does."
            )
        case .mfaRequired: return passwordTaken
        case .invalidClient:
            return .wrong(
                "Client",
                "The issuer does not know the client \(clientID), or the client needs a secret. Compare clientId with the app's settings.")
        case .unauthorizedClient where hasBrowser && person == nil,
            .other(code: "unsupported_grant_type") where hasBrowser && person == nil:
            return .right(
                "Grant", "\(clientID) signs in only with the browser. It may not use the password grant, and does not need it.")
        case .unauthorizedClient:
            return .wrong(
                "Grant",
                "The client \(clientID) may not use the password grant. Add it to the app's grant types, beside refresh_token. For an app that uses only the browser, pass its redirect URI."
            )
        case .invalidScope: return .wrong("Scopes", "The issuer does not know one of the scopes \(scopes).")
        case .accessDenied:
            return .wrong(
                "Policy",
                "The issuer denies the sign-in: \(refusal.description ?? "it gives no reason.") Check the app's assignment, the access rules of the authorization server (password grant, scopes), and the app's sign-on policy."
            )
        case .other(code: "unsupported_grant_type"): return .wrong("Grant", "The issuer does not offer the password grant at all.")
        default: return .warning("Client", "The issuer refused a test sign-in with \(refusal.code.rawValue).")
        }
    }
}

/// Starts a sign-in like a browser without a session, to test the client, its redirect URI and its scopes. The request asks for a response
/// without a page (`prompt=none`, OpenID Connect Core 3.1.2.1). The expected response is the error `login_required` or a similar one.
struct TrialNavigation {
    let client: OAuth2Client
    let redirectUri: URL

    private var clientID: String { client.configuration.clientId }

    func run() async -> Finding {
        do {
            let flow = try AuthorizationCodeFlow(client: client)
            let start = try await flow.start(with: .init(additionalParameters: ["prompt": "none"]))
            guard let redirect = try await SilentNavigation(client: client).redirect(from: start, to: redirectUri) else {
                return .right(
                    "Browser",
                    "The issuer accepts \(clientID) and shows a page although the request has prompt=none. `countersign sign-in browser` shows whether users can sign in there."
                )
            }
            let token = try await flow.resume(with: redirect)
            try? await client.revoke(token, type: .all)
            return .warning("Browser", "The issuer accepted an unknown browser session. Check that it is the right server.")
        } catch {
            return finding(for: error)
        }
    }

    private func finding(for error: any Error) -> Finding {
        switch OAuth2Error(error) {
        case .server(let refusal): finding(for: refusal)
        // The issuer does not redirect if the client or the redirect URI is invalid (RFC 6749, 4.1.2.1).
        case .network(error: .statusCode(400)):
            .wrong(
                "Browser",
                "The issuer shows an error instead of a sign-in page: the client \(clientID) or its redirect URI \(redirectUri.absoluteString) is unknown. Compare both exactly with the app's settings."
            )
        default: .wrong("Browser", "A sign-in with the browser cannot begin: \(Outcome.explain(error))")
        }
    }

    private func finding(for refusal: OAuth2ServerError) -> Finding {
        switch refusal.code.rawValue {
        case "login_required", "interaction_required", "consent_required", "account_selection_required":
            .right("Browser", "\(clientID) can sign users in with the browser, and the redirect goes to \(redirectUri.absoluteString).")
        case "invalid_client":
            .wrong(
                "Browser",
                "The issuer does not know the client \(clientID), or the client needs a secret. Compare clientId with the app's settings.")
        case "unauthorized_client":
            .wrong("Browser", "The client \(clientID) is not allowed the authorization_code grant. Allow it in the app's grant types.")
        case "invalid_scope": .wrong("Scopes", "The issuer does not know one of the scopes, or does not give it to \(clientID).")
        default:
            .wrong(
                "Browser",
                "The issuer refuses the sign-in with \(refusal.code.rawValue): \(refusal.description ?? "it does not say why.")")
        }
    }
}
