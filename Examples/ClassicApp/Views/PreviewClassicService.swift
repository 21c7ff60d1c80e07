#if canImport(SwiftUI) && DEBUG
internal import Foundation
internal import OktaAuthSdk

/// A service in memory, for previews: nobody can sign in.
final class PreviewClassicService: ClassicServicing {
    private(set) var signedInUser: String?

    init(user: String? = nil) {
        signedInUser = user
    }

    func signIn(username: String, password: String) async throws -> OktaAuthStatus { throw OktaError.emptyServerResponse }
    func recoverPassword(username: String, by way: OktaRecoveryFactors) async throws -> OktaAuthStatus {
        throw OktaError.emptyServerResponse
    }
    func unlockAccount(username: String, by way: OktaRecoveryFactors) async throws -> OktaAuthStatus {
        throw OktaError.emptyServerResponse
    }
    func goOn(with token: String, of kind: ClassicTokenKind) async throws -> OktaAuthStatus { throw OktaError.emptyServerResponse }
    func text(ofPicture picture: URL) async -> String? { nil }
    func finish(sessionToken: String) async throws -> Bool { false }
    func signOut() async throws { signedInUser = nil }
}
#endif
