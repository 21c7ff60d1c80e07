internal import Foundation
internal import IdentityCore
internal import JOSE
internal import NIOConcurrencyHelpers
public import OktaDirectAuth
internal import WebAuthn

/// A user's passkey in software. It signs the challenges of the server with a real key, as an app's authenticator does.
///
/// ```swift
/// let passkey = try await sandbox.passkey(for: "jane.doe@example.com")
/// if case .continuation(.webAuthn(let context)) = try await flow.start("jane.doe@example.com", with: .webAuthn) {
///     let status = try await flow.resume(with: .webAuthn(response: passkey.assertion(for: context.request)))
/// }
/// ```
///
/// Safe from any task.
public final class VirtualPasskey: Sendable {
    /// The id of the credential in base64url.
    public let credentialID: String
    private let relyingPartyID: String
    private let authenticator: NIOLockedValueBox<SoftwareAuthenticator>

    init(_ authenticator: SoftwareAuthenticator, credentialID: String, relyingPartyID: String) {
        (self.credentialID, self.relyingPartyID) = (credentialID, relyingPartyID)
        self.authenticator = NIOLockedValueBox(authenticator)
    }

    /// Whether the passkey verifies its user by a PIN or biometrics, so that it can prove two factors at once. The default is `true`.
    public var verifiesUser: Bool {
        get { authenticator.withLockedValue { $0.flags.contains(.userVerified) } }
        set {
            authenticator.withLockedValue { authenticator in
                if newValue { authenticator.flags.insert(.userVerified) } else { authenticator.flags.remove(.userVerified) }
            }
        }
    }

    /// Signs the challenge of a sign-in.
    /// - Parameter options: The options from the server (`DirectAuthenticationFlow.ContinuationType.webAuthn`).
    /// - Returns: The values for `DirectAuthenticationFlow.ContinuationFactor.webAuthn`.
    /// - Throws: ``FactorError`` if the options ask for other passkeys or another RP ID, or their challenge is not base64url.
    public func assertion(
        for options: OktaDirectAuth.WebAuthn.CredentialRequestOptions
    ) throws -> OktaDirectAuth.WebAuthn.AuthenticatorAssertionResponse {
        try authenticator.withLockedValue {
            try $0.assertion(for: options, credentialID: credentialID, relyingPartyID: relyingPartyID)
        }
    }
}

extension Sandbox {
    /// Gives a user a list of recovery codes, in place of an earlier list. Each code can be used once as the second factor.
    /// - Parameter login: The user's login.
    /// - Returns: The codes, as the pages show them: `abcd-efgh-jkmn-pqrs`.
    /// - Throws: ``FactorError`` if no user has this login, or the organization does not offer recovery codes; errors of the store.
    public func recoveryCodes(for login: String) async throws -> [String] {
        let context = RequestContext(now: clock.now, requestID: "sandbox-recovery-codes")
        guard let id = try await engine.user(login: login)?.id else {
            throw FactorError(.unknownPerson, "The sandbox has no user \(login). Add the user first.")
        }
        guard let codes = try await engine.grantSavedCodes(toUser: id, context: context) else {
            throw FactorError(.noRecoveryCodes, "The organization has no section recovery_codes in its org file.")
        }
        return codes
    }

    /// Gives a user a passkey, without the pages of an enrollment.
    /// - Parameters:
    ///   - login: The user's login.
    ///   - name: The name of the passkey.
    ///   - verifiesUser: Whether the passkey asks for a PIN or biometrics.
    /// - Returns: The new passkey. The user's other passkeys stay.
    /// - Throws: ``FactorError`` if no user has this login, or the organization does not offer passkeys; errors of the store.
    public func passkey(for login: String, name: String = "Passkey", verifiesUser: Bool = true) async throws -> VirtualPasskey {
        let context = RequestContext(now: clock.now, requestID: "sandbox-passkey")
        guard let id = try await engine.user(login: login)?.id else {
            throw FactorError(.unknownPerson, "The sandbox has no user \(login). Add the user first.")
        }
        var authenticator = SoftwareAuthenticator()
        if !verifiesUser { authenticator.flags.remove(.userVerified) }
        var random = SystemRandomNumberGenerator()
        guard
            let granted = try await engine.grantPasskey(
                toUser: id, name: name, context: context,
                create: { options, origin in
                    try authenticator.create(options, origin: origin, using: &random)
                })
        else { throw FactorError(.wrongPasskey, "The organization has no section passkeys in its org file.") }
        return VirtualPasskey(authenticator, credentialID: granted.credentialID, relyingPartyID: granted.relyingParty)
    }
}
