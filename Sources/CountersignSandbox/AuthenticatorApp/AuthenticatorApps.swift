internal import Foundation
internal import IdentityCore
internal import NIOConcurrencyHelpers

/// The authenticator apps of a sandbox's people, as far as the sandbox knows them: those that it gave, those that scanned a QR code, and
/// those that the organization's file brought. Safe from any task.
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

    /// A person's app; of several the last one. Nil if they have none that is known here.
    func app(of login: String) -> AuthenticatorApp? {
        kept.withLockedValue { $0[login.lowercased()] }
            ?? people().first { $0.login.lowercased() == login.lowercased() }.flatMap(fromTheStart)
    }

    /// The apps, by whose they are.
    var all: [(login: String, app: AuthenticatorApp)] {
        people().map(\.login).sorted().compactMap { login in app(of: login).map { (login, $0) } }
    }

    /// Remembers an app.
    func keep(_ app: AuthenticatorApp, of login: String) {
        kept.withLockedValue { $0[login.lowercased()] = app }
    }

    /// Forgets what was kept: everybody has the app again that they were made with, if any.
    func reset() { kept.withLockedValue { $0 = [:] } }

    /// The app that a person was made with.
    private func fromTheStart(_ user: SandboxUser) -> AuthenticatorApp? {
        guard let secret = user.totpSecret.flatMap(Base32.decode) else { return nil }
        let offer = TOTPEnrollmentOffer(
            id: "", secret: secret, issuer: organizationName, account: user.login, expiresAt: .distantFuture)
        // It is one: the server wrote it.
        return try? AuthenticatorApp(uri: offer.uri, clock: clock)
    }
}
