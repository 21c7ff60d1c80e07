internal import Foundation
internal import IdentityCore
public import JOSE

/// An authenticator app of a person: it shows a code of six digits, and another one every thirty seconds of the sandbox's clock.
///
/// The server takes each code once. Who signs in twice moves the clock on in between.
public struct AuthenticatorApp: Sendable {
    /// What the app read from a QR code.
    public let uri: String

    private let secret: [UInt8]
    private let clock: SandboxClock

    /// Sets an app up from the `otpauth` URI of a QR code, as ``Sandbox/authenticatorApp(scanning:)`` does.
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

    /// Whose account it says that it is for.
    var account: String? { URLComponents(string: uri)?.path.split(separator: ":").last.map(String.init) }

    /// The code that the app shows now.
    public var code: String { code(after: 0) }

    /// The code that the app shows some steps of thirty seconds later, or earlier.
    ///
    /// - Parameter steps: How many; negative for a code that was shown before.
    /// - Returns: Six digits.
    public func code(after steps: Int) -> String {
        TimeBasedCode.code(secret: secret, step: TimeBasedCode.step(at: clock.now) + Int64(steps))
    }
}

extension AuthenticatorApp: Redacted {}

extension Sandbox {
    /// Gives a person an authenticator app, without the ceremony that sets one up: from now on it is their second factor.
    ///
    /// ```swift
    /// let app = try await sandbox.authenticatorApp(for: "jane.doe@example.com")
    /// let status = try await flow.resume(with: .otp(code: app.code))
    /// ```
    ///
    /// - Parameter login: Whose.
    /// - Returns: The app. Each call gives a new one, which takes the place of the one that the person had.
    /// - Throws: ``FactorError`` if there is nobody with that login; or what the store throws.
    public func authenticatorApp(for login: String) async throws -> AuthenticatorApp {
        let context = RequestContext(now: clock.now, requestID: "sandbox-authenticator-app")
        guard let id = try await engine.user(login: login)?.id,
            let offer = try await engine.grantAuthenticatorApp(userID: id, context: context)
        else { throw FactorError(.unknownPerson, "There is nobody with the login \(login). Add them to the sandbox first.") }
        let app = try AuthenticatorApp(uri: offer.uri, clock: clock)
        apps.keep(app, of: login)
        return app
    }

    /// The app that a person has, as far as the sandbox knows: the one that it gave them, that last scanned a QR code for them, or that they
    /// have had from the start (``SandboxUser/totpSecret``).
    ///
    /// - Parameter login: Whose.
    /// - Returns: The app; nil if none is known.
    public func currentAuthenticatorApp(of login: String) -> AuthenticatorApp? { apps.app(of: login) }

    /// Sets an app up from what a QR code says, as a person does who enrolls on a page: it shows the codes that the page asks for.
    ///
    /// - Parameter uri: The `otpauth` URI.
    /// - Returns: The app.
    /// - Throws: ``FactorError`` if it is no URI that an app could read.
    public func authenticatorApp(scanning uri: String) throws -> AuthenticatorApp {
        let app = try AuthenticatorApp(uri: uri, clock: clock)
        if let login = app.account { apps.keep(app, of: login) }
        return app
    }
}
