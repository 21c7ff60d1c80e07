#if canImport(SwiftUI) && DEBUG
internal import BrowserSignin

/// A service in memory, for previews.
final class PreviewAuthService: AuthServiceProtocol {
    private(set) var status: SignInStatus

    init(status: SignInStatus) {
        self.status = status
    }

    var idToken: String? { status == .loggedOut ? nil : "eyJhbGciOiJSUzI1NiJ9.eyJuYW1lIjoiSmFuZSBEb2UifQ.c2lnbmF0dXJl" }
    func tokenInfo() -> TokenInfo? { nil }
    func userInfo() async throws -> UserInfo? { nil }

    func signIn() async throws -> Bool {
        status = .loggedIn
        return true
    }

    func signOut() async throws -> SignOutOutcome {
        status = .loggedOut
        return SignOutOutcome(isSignedOut: true)
    }

    func cancel() async {}
    func refreshToken() async throws {}
    func refreshTokenIfNeeded() async throws {}
    func fetchMessageFromBackend() async throws -> String { "Hello, world!" }
}
#endif
