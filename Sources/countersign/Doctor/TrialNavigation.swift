import AuthFoundation
import Foundation
import OAuth2Auth

/// Starts a sign-in like a browser without a session, to test the client, its redirect URI and its scopes. It requests a response without a
/// page (`prompt=none`, OpenID Connect Core 3.1.2.1). The expected response is that the user must sign in.
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
                    "The issuer takes \(clientID) and shows a page of its own, although prompt=none asks for none. `countersign sign-in browser` shows whether people can sign in there."
                )
            }
            let token = try await flow.resume(with: redirect)
            // The tokens are not needed.
            try? await client.revoke(token, type: .all)
            return .warning("Browser", "The issuer let in a browser that it does not know. Check what it is.")
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
                "The issuer shows an error instead of a sign-in. It does not know the client \(clientID), or not its redirect URI \(redirectUri.absoluteString): compare both, letter by letter, with the app's general settings."
            )
        default: .wrong("Browser", "A sign-in through a browser can't begin: \(Outcome.explain(error))")
        }
    }

    private func finding(for refusal: OAuth2ServerError) -> Finding {
        switch refusal.code.rawValue {
        case "login_required", "interaction_required", "consent_required", "account_selection_required":
            .right("Browser", "\(clientID) may send people to sign in, and they return to \(redirectUri.absoluteString).")
        case "invalid_client":
            .wrong(
                "Browser",
                "The issuer does not know the client \(clientID), or it needs a secret. Compare clientId with the app's general settings.")
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
