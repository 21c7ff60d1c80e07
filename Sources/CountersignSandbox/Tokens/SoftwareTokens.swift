internal import AuthnAPI
internal import AuthorizationServer
internal import Foundation
internal import IdentityCore
public import JOSE
internal import NIOConcurrencyHelpers

/// A user's one-time-code token that an external system verifies, such as a key-ring token.
public struct SoftwareToken: Sendable {
    /// The manufacturers of tokens.
    public enum Provider: String, Sendable, CaseIterable {
        /// RSA SecurID.
        case rsa = "RSA"
        /// Symantec VIP.
        case symantec = "SYMANTEC"
    }

    /// The manufacturer.
    public let provider: Provider
    /// The external system's ID of the token. The user types it at enrollment.
    public let credentialID: String
    let secret: [UInt8]
    let clock: SandboxClock

    /// The current code. Each code is valid once.
    public var code: String { code(after: 0) }

    /// The next code, 30 seconds later.
    public var nextCode: String { code(after: 1) }

    private func code(after steps: Int64) -> String {
        TimeBasedCode.code(secret: secret, step: TimeBasedCode.step(at: clock.now) + steps)
    }
}

extension SoftwareToken: Redacted {
    /// The provider and the credential ID; never the secret.
    public var description: String { "SoftwareToken(\(provider.rawValue), \(credentialID))" }
}

/// A simulation of the external systems that verify tokens. It knows the tokens that the sandbox created. Safe from any task.
final class SoftwareTokens: TokenService {
    private struct Known {
        var token: SoftwareToken
        var login: String
        var lastStep: Int64?
    }

    private let known = NIOLockedValueBox<[String: Known]>([:])
    private let clock: SandboxClock

    init(clock: SandboxClock) { self.clock = clock }

    func reset() { known.withLockedValue { $0 = [:] } }

    func give(_ provider: SoftwareToken.Provider, to login: String, random: any RandomSource) throws -> SoftwareToken {
        let secret = try random.bytes(TimeBasedCode.secretLength)
        let token = SoftwareToken(
            provider: provider, credentialID: "VSST" + secret.prefix(4).map { String($0 % 90 + 10) }.joined(), secret: secret, clock: clock)
        known.withLockedValue { $0[provider.rawValue + token.credentialID] = Known(token: token, login: login.lowercased()) }
        return token
    }

    func judge(_ code: TokenCode) async throws -> TokenVerdict {
        known.withLockedValue { known in
            let key = code.provider.rawValue + code.credentialID
            guard let found = known[key], found.login == code.login.lowercased(),
                let step = TimeBasedCode.step(ofTyped: code.passCode, secret: found.token.secret, now: clock.now, after: found.lastStep)
            else { return .wrong }
            if let next = code.nextPassCode, next != TimeBasedCode.code(secret: found.token.secret, step: step + 1) { return .wrong }
            known[key]?.lastStep = code.nextPassCode == nil ? step : step + 1
            return .right
        }
    }
}

extension Sandbox {
    /// Creates a token for a user in the simulated external system. The user enrolls it with the classic API, if the organization allows it
    /// (`rsa` and `symantec` among the factors of `authn_api`).
    ///
    /// ```swift
    /// let token = try sandbox.softwareToken(.rsa, for: "jane.doe@example.com")
    /// ```
    ///
    /// - Throws: An error if the system provides no random bytes.
    public func softwareToken(_ provider: SoftwareToken.Provider, for login: String) throws -> SoftwareToken {
        try tokens.give(provider, to: login, random: SystemRandomSource())
    }

    /// Creates the token with which a user signs in for the first time, with the classic API.
    /// - Parameter login: A user who is staged or has no password.
    /// - Returns: The token, valid once and for a week.
    /// - Throws: ``FactorError`` if no user has this login, or the user can already sign in; errors of the store.
    public func activationToken(for login: String) async throws -> String {
        let context = RequestContext(now: clock.now, requestID: "sandbox-activation")
        guard let id = try await engine.user(login: login)?.id,
            let token = try await engine.activationToken(forUser: id, context: context)
        else {
            throw FactorError(
                .unknownPerson,
                "\(login) is not a user without a password. Add the user staged, or without a password.")
        }
        return token
    }
}

/// A hardware token whose codes follow a counter (RFC 4226): each press shows the next code.
///
/// An administrator assigns the device, in ``SandboxUser`` or as the member `hotp` of a user in the org file. Users cannot enroll it.
public struct CounterDevice: Sendable, Equatable {
    /// The ID of the device, such as its serial number: 1 to 100 bytes.
    public let credentialID: String
    /// The counter of the device's next code, at least 0.
    public let counter: Int64
    let secret: String

    /// Creates a device.
    /// - Parameters:
    ///   - secret: The seed: Base32 of at least 16 bytes.
    ///   - credentialID: The ID of the device: 1 to 100 bytes.
    ///   - counter: The counter of the device's next code, at least 0.
    public init(secret: String, credentialID: String, counter: Int64 = 0) {
        self.secret = secret
        self.credentialID = credentialID
        self.counter = counter
    }

    /// Returns the code after a number of presses. Each code is valid once, and invalidates all codes before it.
    /// - Parameter presses: The number of presses since ``counter``, at least 1.
    /// - Returns: Six digits; `nil` if the seed is not Base32.
    public func code(press presses: Int64) -> String? {
        Base32.decode(secret).map { TimeBasedCode.code(secret: $0, step: counter + presses - 1) }
    }
}

extension CounterDevice: Redacted {
    /// The credential ID; never the seed.
    public var description: String { "CounterDevice(\(credentialID))" }
}
