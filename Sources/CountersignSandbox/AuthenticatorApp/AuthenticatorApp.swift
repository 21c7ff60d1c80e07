internal import Foundation
internal import IdentityCore
public import JOSE
internal import NIOConcurrencyHelpers

/// A user's authenticator app: it shows a six-digit code, which changes every 30 seconds of the sandbox's clock.
///
/// The server accepts each code once. To use a second code, advance the clock.
public struct AuthenticatorApp: Sendable {
    /// The `otpauth` URI from the QR code.
    public let uri: String

    private let secret: [UInt8]
    private let clock: SandboxClock

    /// Creates an app from the `otpauth` URI of a QR code. Throws ``FactorError`` if the URI is invalid for an authenticator app.
    init(uri: String, clock: SandboxClock) throws {
        let parameters = URLComponents(string: uri)?.queryItems ?? []
        func value(_ name: String, default standard: String) -> String { parameters.first { $0.name == name }?.value ?? standard }
        guard uri.hasPrefix("otpauth://totp/"), let secret = Base32.decode(value("secret", default: "")), !secret.isEmpty else {
            throw FactorError(.unreadableURI, "This is no otpauth URI of an authenticator app with codes that change by time.")
        }
        guard value("algorithm", default: "SHA1") == "SHA1", value("digits", default: "6") == "6", value("period", default: "30") == "30"
        else {
            throw FactorError(.unreadableURI, "The app shows six digits of SHA-1 every thirty seconds, and nothing else.")
        }
        (self.uri, self.secret, self.clock) = (uri, secret, clock)
    }

    /// The account name in the URI; `nil` if the URI has no path.
    var account: String? { URLComponents(string: uri)?.path.split(separator: ":").last.map(String.init) }

    /// The code that the app shows now.
    public var code: String { code(after: 0) }

    /// Returns the code of a later or an earlier step of 30 seconds.
    /// - Parameter steps: The number of steps; negative for an earlier code.
    public func code(after steps: Int) -> String {
        TimeBasedCode.code(secret: secret, step: TimeBasedCode.step(at: clock.now) + Int64(steps))
    }
}

extension AuthenticatorApp: Redacted {}

extension Sandbox {
    /// Enrolls an authenticator app for a user without the enrollment dialog. The app is the user's second factor from now on.
    ///
    /// ```swift
    /// let app = try await sandbox.authenticatorApp(for: "jane.doe@example.com")
    /// let status = try await flow.resume(with: .otp(code: app.code))
    /// ```
    ///
    /// - Returns: A new app, which replaces the user's earlier app.
    /// - Throws: ``FactorError`` if no user has this login; errors of the store.
    public func authenticatorApp(for login: String) async throws -> AuthenticatorApp {
        let context = RequestContext(now: clock.now, requestID: "sandbox-authenticator-app")
        guard let id = try await engine.user(login: login)?.id,
            let offer = try await engine.grantAuthenticatorApp(userID: id, context: context)
        else { throw FactorError(.unknownPerson, "The sandbox has no user \(login). Add the user first.") }
        let app = try AuthenticatorApp(uri: offer.uri, clock: clock)
        apps.keep(app, of: login)
        return app
    }

    /// Returns the user's current app: the latest app that the sandbox enrolled or that scanned a QR code, or else the initial app
    /// (``SandboxUser/totpSecret``); `nil` if no app is known.
    public func currentAuthenticatorApp(of login: String) -> AuthenticatorApp? { apps.app(of: login) }

    /// Sets an app up from a QR code, as a user does on the enrollment page. The app's codes complete the enrollment.
    /// - Parameter uri: The `otpauth` URI in the QR code.
    /// - Throws: ``FactorError`` if the URI is invalid for an authenticator app.
    public func authenticatorApp(scanning uri: String) throws -> AuthenticatorApp {
        let app = try AuthenticatorApp(uri: uri, clock: clock)
        if let login = app.account { apps.keep(app, of: login) }
        return app
    }
}

/// The users' authenticator apps that the sandbox knows: apps that it enrolled, apps that scanned a QR code, and the users' initial apps.
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

    /// Returns a user's latest app; `nil` if no app is known.
    func app(of login: String) -> AuthenticatorApp? {
        kept.withLockedValue { $0[login.lowercased()] }
            ?? people().first { $0.login.lowercased() == login.lowercased() }.flatMap(fromTheStart)
    }

    var all: [(login: String, app: AuthenticatorApp)] {
        people().map(\.login).sorted().compactMap { login in app(of: login).map { (login, $0) } }
    }

    func keep(_ app: AuthenticatorApp, of login: String) {
        kept.withLockedValue { $0[login.lowercased()] = app }
    }

    /// Removes the stored apps; only users' initial apps remain.
    func reset() { kept.withLockedValue { $0 = [:] } }

    /// Returns a user's initial app; `nil` if the user has none.
    private func fromTheStart(_ user: SandboxUser) -> AuthenticatorApp? {
        guard let secret = user.totpSecret.flatMap(Base32.decode) else { return nil }
        let offer = TOTPEnrollmentOffer(
            id: "", secret: secret, issuer: organizationName, account: user.login, expiresAt: .distantFuture)
        // The URI is valid, because the server's code writes it.
        return try? AuthenticatorApp(uri: offer.uri, clock: clock)
    }
}
