internal import AuthnAPI
internal import AuthorizationServer
internal import Foundation
internal import IdentityCore
public import JOSE
internal import NIOConcurrencyHelpers

/// A token of a sandbox's person that another system would know, such as one on a key ring.
public struct SoftwareToken: Sendable {
    /// Whose tokens there are.
    public enum Provider: String, Sendable, CaseIterable {
        /// RSA SecurID.
        case rsa = "RSA"
        /// Symantec VIP.
        case symantec = "SYMANTEC"
    }

    /// Whose it is.
    public let provider: Provider
    /// What the other system knows it by; what a person types when they set it up.
    public let credentialID: String
    let secret: [UInt8]
    let clock: SandboxClock

    /// The code that it shows now. Each is good once.
    public var code: String { code(after: 0) }

    /// The code that it shows next, half a minute later.
    public var nextCode: String { code(after: 1) }

    private func code(after steps: Int64) -> String {
        TimeBasedCode.code(secret: secret, step: TimeBasedCode.step(at: clock.now) + steps)
    }
}

extension SoftwareToken: Redacted {
    /// The provider and what it is known by; never the secret.
    public var description: String { "SoftwareToken(\(provider.rawValue), \(credentialID))" }
}

/// Stands in for the systems that know tokens: it knows those that the sandbox gave. Safe from any task.
final class SoftwareTokens: TokenService {
    private struct Known {
        var token: SoftwareToken
        var login: String
        var lastStep: Int64?
    }

    private let known = NIOLockedValueBox<[String: Known]>([:])
    private let clock: SandboxClock

    init(clock: SandboxClock) { self.clock = clock }

    /// Removes every token.
    func reset() { known.withLockedValue { $0 = [:] } }

    /// Makes a token of a person's.
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
    /// Gives a person a token that another system would know, and has the sandbox know it. They set it up in the classic API, where the
    /// organization lets them (`rsa` and `symantec` among the factors of `authn_api`).
    ///
    /// ```swift
    /// let token = try sandbox.softwareToken(.rsa, for: "jane.doe@example.com")
    /// ```
    ///
    /// - Parameters:
    ///   - provider: Whose system would know it.
    ///   - login: Whose it is.
    /// - Returns: The token.
    /// - Throws: If there is no randomness.
    public func softwareToken(_ provider: SoftwareToken.Provider, for login: String) throws -> SoftwareToken {
        try tokens.give(provider, to: login, random: SystemRandomSource())
    }

    /// Makes the token by which a person signs in for the first time, by the classic API.
    ///
    /// - Parameter login: Whose: somebody who is staged, or has no password.
    /// - Returns: The token, good once and for a week.
    /// - Throws: ``FactorError`` if there is nobody with that login, or they can sign in already; or what the store throws.
    public func activationToken(for login: String) async throws -> String {
        let context = RequestContext(now: clock.now, requestID: "sandbox-activation")
        guard let id = try await engine.user(login: login)?.id,
            let token = try await engine.activationToken(forUser: id, context: context)
        else {
            throw FactorError(
                .unknownPerson,
                "There is nobody with the login \(login) who cannot sign in yet. Add them staged, or without a password.")
        }
        return token
    }
}

/// A device of a sandbox's person whose codes follow a counter (RFC 4226), such as one on a key ring: each press shows the next one.
///
/// An administrator gives it: it is part of the ``SandboxUser``, or a member `hotp` of a user in the org file. People do not set it up.
public struct CounterDevice: Sendable, Equatable {
    /// What it is known by, such as the number on its back: 1 to 100 bytes.
    public let credentialID: String
    /// The counter of its next code, from 0 on.
    public let counter: Int64
    /// Its seed in Base32.
    let secret: String

    /// Describes a device.
    ///
    /// - Parameters:
    ///   - secret: Its seed: Base32 of at least 16 bytes.
    ///   - credentialID: What it is known by: 1 to 100 bytes.
    ///   - counter: The counter of its next code, from 0 on.
    public init(secret: String, credentialID: String, counter: Int64 = 0) {
        self.secret = secret
        self.credentialID = credentialID
        self.counter = counter
    }

    /// What it shows after some presses. Each code is good once, and leaves those before it good no more.
    ///
    /// - Parameter presses: How often the button was pressed since ``counter``, from 1 on.
    /// - Returns: Six digits; nil if the seed is no Base32.
    public func code(press presses: Int64) -> String? {
        Base32.decode(secret).map { TimeBasedCode.code(secret: $0, step: counter + presses - 1) }
    }
}

extension CounterDevice: Redacted {
    /// What it is known by; never the seed.
    public var description: String { "CounterDevice(\(credentialID))" }
}
