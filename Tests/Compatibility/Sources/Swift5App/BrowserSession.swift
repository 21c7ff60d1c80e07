import BrowserSignin
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The token details that the app shows.
struct SignedIn {
    let issuer: String
    let username: String
    let signedInAt: Date?

    init?(_ token: JWT?) {
        guard let token, let issuer = token.issuer else { return nil }
        self.issuer = issuer
        username = token.preferredUsername ?? "?"
        signedInAt = token.authTime ?? token.issuedAt
    }
}

/// An app that signs users in with the browser and imports only that module.
final class BrowserSession {
    enum Trouble: Error { case notConfigured }

    var isSignedIn: Bool { Credential.default != nil }
    var idToken: String? { Credential.default?.token.idToken?.rawValue }
    var signedIn: SignedIn? { SignedIn(Credential.default?.token.idToken) }
    /// A value of the app's own type. The module has a type with the same name, and the unqualified name means the app's type.
    var info: TokenInfo { TokenInfo() }

    @MainActor
    func signIn() async throws {
        BrowserSignin.shared?.ephemeralSession = true
        guard let tokens = try await BrowserSignin.shared?.signIn() else { throw Trouble.notConfigured }
        _ = try? Credential.store(tokens)
    }

    @MainActor
    func signOut() async throws {
        guard let credential = Credential.default else { return }
        try await BrowserSignin.shared?.signOut(token: credential.token)
        try? credential.remove()
    }

    func refresh() async throws {
        try await Credential.default?.refresh()
    }

    func profile() async throws -> UserInfo? {
        if let known = Credential.default?.userInfo { return known }
        return try await Credential.default?.userInfo()
    }

    func messages(at url: URL) async throws -> Data {
        var request = URLRequest(url: url)
        await Credential.default?.authorize(&request)
        return try await URLSession.shared.data(for: request).0
    }
}

/// An app that signs users in with the browser and uses callbacks instead of `async`.
@MainActor
final class CallbackSession {
    private(set) var status = "signed out"

    func signIn(_ signin: BrowserSignin) {
        signin.signIn(from: nil) { result in
            switch result {
            case .success(let token): self.status = token.tokenType
            case .failure(.userCancelledLogin): break
            case .failure(let error): self.status = error.localizedDescription
            }
        }
    }

    func signOut(_ signin: BrowserSignin, _ token: Token) {
        signin.signOut(from: nil, token: token) { result in
            if case .success = result { self.status = "signed out" }
        }
        signin.signOut(from: nil) { _ in }
        signin.signOut(from: nil, credential: .default) { _ in }
    }
}
