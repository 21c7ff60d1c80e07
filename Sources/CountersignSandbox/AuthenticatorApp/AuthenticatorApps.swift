internal import Foundation
internal import IdentityCore
internal import NIOConcurrencyHelpers

/// The users' authenticator apps that the sandbox knows: those that it enrolled, those that scanned a QR code, and those of the org file.
/// Safe from any task.
final class AuthenticatorApps: Sendable {
    private let kept = NIOLockedValueBox<[String: AuthenticatorApp]>([:])
    private let clock: SandboxClock
    private let organizationName: String
    private let people: @Sendable () -> [SandboxUser]

    init(clock: SandboxClock, organizationName: String, people: @escaping @Sendable () -> [SandboxUser]) {
        self.clock = clock
        self.organizationName = organizationName
        self.people = people
    }

    /// Returns a user's latest app; `nil` if none is known.
    func app(of login: String) -> AuthenticatorApp? {
        kept.withLockedValue { $0[login.lowercased()] }
            ?? people().first { $0.login.lowercased() == login.lowercased() }.flatMap(fromTheStart)
    }

    /// The apps with their logins.
    var all: [(login: String, app: AuthenticatorApp)] {
        people().map(\.login).sorted().compactMap { login in app(of: login).map { (login, $0) } }
    }

    /// Stores an app.
    func keep(_ app: AuthenticatorApp, of login: String) {
        kept.withLockedValue { $0[login.lowercased()] = app }
    }

    /// Removes the stored apps; only users' initial apps remain.
    func reset() { kept.withLockedValue { $0 = [:] } }

    /// Returns a user's initial app.
    private func fromTheStart(_ user: SandboxUser) -> AuthenticatorApp? {
        guard let secret = user.totpSecret.flatMap(Base32.decode) else { return nil }
        let offer = TOTPEnrollmentOffer(
            id: "", secret: secret, issuer: organizationName, account: user.login, expiresAt: .distantFuture)
        // The URI is valid, because the server wrote it.
        return try? AuthenticatorApp(uri: offer.uri, clock: clock)
    }
}
