import AuthFoundation
import Foundation
import Observation
import OktaDirectAuth

/// Signs a user in with a password and refreshes the tokens, with the calls of an app for Okta's SDK.
@Observable
final class PasswordSession {
    enum Phase: Equatable {
        case signedOut
        case busy
        case signedIn(Token)
        case secondFactor
        case failed(String)
    }

    private(set) var phase: Phase = .signedOut
    @ObservationIgnored private let flow: DirectAuthenticationFlow?

    init() {
        if let settings = try? OAuth2Client.PropertyListConfiguration() {
            flow = try? DirectAuthenticationFlow(client: OAuth2Client(settings))
        } else {
            flow = try? DirectAuthenticationFlow()
        }
        if let token = Credential.default?.token {
            phase = .signedIn(token)
        }
    }

    @MainActor
    func signIn(_ user: String, _ password: String) async {
        phase = .busy
        do {
            let status = try await flow?.start(user, with: .password(password))
            switch status {
            case .success(let token):
                let credential = try Credential.store(token)
                Credential.default = credential
                phase = .signedIn(token)
            case .mfaRequired:
                phase = .secondFactor
                let next = try await flow?.resume(with: .oob(channel: .push))
                if case let .success(token) = next {
                    Credential.default = try Credential.store(token)
                    phase = .signedIn(token)
                }
            default:
                phase = .failed("This app does not support the next step.")
            }
        } catch {
            phase = .failed(error.localizedDescription)
        }
    }

    @MainActor
    func signOut() async {
        if let credential = Credential.default {
            try? await credential.revoke()
        }
        Credential.default = nil
        phase = .signedOut
    }

    func refresh() async throws {
        try await Credential.default?.refresh()
        try await Credential.default?.refreshIfNeeded()
    }

    func profile() async -> UserInfo? {
        if let known = Credential.default?.userInfo {
            return known
        }
        return try? await Credential.default?.userInfo()
    }

    func lines(of token: Token) -> [String] {
        [
            token.tokenType, token.accessToken, token.scope?.joined(separator: ",") ?? "no scopes",
            token.idToken?.rawValue ?? "no id token", token.refreshToken ?? "no refresh token", "\(token.expiresIn) seconds",
        ]
    }

    func lines(of user: UserInfo) -> [String] {
        [user.name ?? "", user.preferredUsername ?? "", user.subject ?? "", user.email ?? "", user.updatedAt?.description ?? ""]
    }

    func lines(of idToken: JWT) -> [String] {
        [idToken.issuer ?? "", idToken.preferredUsername ?? "", idToken.authTime?.description ?? "", idToken.issuedAt?.description ?? ""]
    }
}

/// A type of the app. The module has a type with the same name, and the unqualified name means this type.
struct TokenInfo: Identifiable {
    let id = "mine"
}

func own() -> String { TokenInfo().id }
