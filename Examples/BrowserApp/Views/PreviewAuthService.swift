#if canImport(SwiftUI) && DEBUG
internal import AppSession
internal import BrowserSignin

/// A service without a server, for previews.
final class PreviewAuthService: AuthServiceProtocol {
    /// An ID token of Jane with an invalid signature.
    private static let sampleIDToken =
        "eyJhbGciOiJSUzI1NiJ9."
        + "eyJpc3MiOiJodHRwczovL2lkLmV4YW1wbGUuY29tL29hdXRoMi9kZWZhdWx0IiwicHJlZmVycmVkX3VzZXJuYW1lIjoiamFuZS5kb2VAZXhhbXBsZS5jb20iLCJhdX"
        + "RoX3RpbWUiOjE3MDAwMDAwMDAsImlhdCI6MTcwMDAwMDA2MH0.c2lnbmF0dXJl"

    static var sampleTokenInfo: TokenInfo? { JWT(rawValue: sampleIDToken).map { TokenInfo(idToken: $0) } }
    static var sampleUserInfo: UserInfo? { try? Sample.userInfo() }

    private(set) var status: SignInStatus

    init(status: SignInStatus) {
        self.status = status
    }

    var idToken: String? { status == .loggedOut ? nil : Self.sampleIDToken }
    func changes() -> AsyncStream<Void> { AsyncStream { $0.finish() } }
    func tokenInfo() -> TokenInfo? { Self.sampleTokenInfo }
    func userInfo() async throws -> UserInfo? { Self.sampleUserInfo }

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
    func fetchPrivateMessage(beforeSignIn: () -> Void) async throws -> String? { "Only you can read this." }
}
#endif
