import CountersignSandbox
import Foundation
import OktaAuthSdk
import Testing

/// An app that walks from status to status with the SDK, and records its path.
@MainActor
final class SDKWalk {
    static let jane = SandboxUser.jane.login
    static let password = SandboxUser.jane.password ?? ""

    let sandbox: Sandbox
    let start: OktaAuthStatusUnauthenticated
    let coverage: SDKCoverage
    /// The current status; `nil` before a transaction.
    private(set) var status: OktaAuthStatus?

    init(_ sandbox: Sandbox, _ coverage: SDKCoverage) {
        (self.sandbox, self.coverage) = (sandbox, coverage)
        start = OktaAuthStatusUnauthenticated(oktaDomain: sandbox.origin)
    }

    /// Runs a walk with its own sandbox.
    static func with(
        _ settings: String, more: String = "", changing change: (String) -> String = { $0 }, _ coverage: SDKCoverage,
        _ body: @MainActor (SDKWalk) async throws -> Void
    ) async throws {
        var configuration = try Sandbox.Configuration.classic(settings, more: more)
        configuration.organization = configuration.organization.map(change)
        try await withClassicSandbox(configuration) { sandbox in try await body(SDKWalk(sandbox, coverage)) }
    }

    /// Takes an edge, and compares the class and the operations of the new status with the expected ones.
    ///
    /// - Parameters:
    ///   - operation: The name of the operation in the table.
    ///   - type: The expected status type.
    ///   - abilities: The expected operations of the new status, sorted.
    ///   - factor: The type of the factor.
    ///   - provider: The provider of the factor; by default Google for authenticator apps, and Okta for all others.
    ///   - call: The SDK call.
    @discardableResult
    func step<Status: OktaAuthStatus>(
        _ operation: String, to type: Status.Type, can abilities: String, with factor: FactorType? = nil,
        of provider: FactorProvider? = nil,
        sourceLocation: SourceLocation = #_sourceLocation, _ call: @MainActor () async throws -> OktaAuthStatus
    ) async throws -> Status {
        let next = try await call()
        let (from, to) = (status?.statusType.rawValue ?? "(none)", next.statusType.rawValue)
        let maker = provider ?? (factor == .TOTP ? .google : .okta)
        coverage.add(from: from, operation, to: to, factor: factor.map { "\($0.rawValue) \(maker.rawValue)" })
        #expect(Self.abilities(of: next) == abilities, "\(from) | \(operation) | \(to)", sourceLocation: sourceLocation)
        if let token = status?.model.stateToken, let new = next.model.stateToken {
            #expect(token == new, "The token is the transaction's", sourceLocation: sourceLocation)
        }
        status = next
        return try #require(next as? Status, "\(from) | \(operation) | \(to)", sourceLocation: sourceLocation)
    }

    /// Begins a sign-in with the user name and the password.
    @discardableResult
    func signIn<Status: OktaAuthStatus>(
        _ password: String = password, to type: Status.Type, can abilities: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Status {
        status = nil
        return try await step("password", to: type, can: abilities, sourceLocation: sourceLocation) {
            try await start.authenticate(username: Self.jane, password: password)
        }
    }

    /// Begins a recovery.
    func recover(
        by way: OktaRecoveryFactors, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> OktaAuthStatusRecoveryChallenge {
        status = nil
        let (operation, abilities) = way == .email ? ("recover by mail", "") : ("recover by text or call", "cancel resend verify")
        return try await step(operation, to: OktaAuthStatusRecoveryChallenge.self, can: abilities, sourceLocation: sourceLocation) {
            try await start.recoverPassword(username: Self.jane, factorType: way)
        }
    }

    /// Prepares a transaction that begins with a token from a mail or a back end.
    func begin() { status = nil }

    /// Takes an edge that the server refuses. The status stays the same unless `isOver` is set.
    func refused(
        _ code: String, on edge: String = "any | failed proof | refused, unchanged", http: Int = 403, isOver: Bool = false,
        sourceLocation: SourceLocation = #_sourceLocation, _ call: @MainActor () async throws -> OktaAuthStatus
    ) async throws {
        let refusal = await classicRefusal(sourceLocation: sourceLocation) { _ = try await call() }
        #expect(refusal?.errorCode == code && refusal?.statusCode == http, "\(String(describing: refusal))", sourceLocation: sourceLocation)
        coverage.add(edge: edge)
        coverage.add(code: code)
        guard let status, let token = status.model.stateToken else { return }
        if isOver { return try await expectOver(token, sourceLocation: sourceLocation) }
        let after = try await OktaAuthSdk.fetchStatus(with: token, using: sandbox.origin)
        #expect(after.statusType == status.statusType && after.links == status.links, sourceLocation: sourceLocation)
        #expect(after.model.stateToken == token, sourceLocation: sourceLocation)
        coverage.add(edge: "any | get state | unchanged")
    }

    /// Cancels the transaction.
    func cancel(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let status = try #require(status)
        try await status.cancelTransaction()
        try await expectOver(try #require(status.model.stateToken), sourceLocation: sourceLocation)
        coverage.add(edge: "any | cancel | revoked")
    }

    private func expectOver(_ token: String, sourceLocation: SourceLocation) async throws {
        let refusal = await classicRefusal(sourceLocation: sourceLocation) {
            _ = try await OktaAuthSdk.fetchStatus(with: token, using: sandbox.origin)
        }
        #expect(refusal?.errorCode == "E0000011" && refusal?.statusCode == 401, sourceLocation: sourceLocation)
        coverage.add(code: "E0000011")
        status = nil
    }

    /// Returns the operations that a status allows.
    private static func abilities(of status: OktaAuthStatus) -> String {
        var can = ["cancel": status.canCancel(), "poll": status.canPoll(), "return": status.canReturn()]
        switch status {
        case let status as OktaAuthStatusPasswordWarning: (can["change"], can["skip"]) = (status.canChange(), status.canSkip())
        case let status as OktaAuthStatusPasswordExpired: can["change"] = status.canChange()
        case let status as OktaAuthStatusPasswordReset: can["reset"] = status.canReset()
        case let status as OktaAuthStatusRecovery: can["recover"] = status.canRecover()
        case let status as OktaAuthStatusRecoveryChallenge: (can["verify"], can["resend"]) = (status.canVerify(), status.canResend())
        case let status as OktaAuthStatusLockedOut: can["unlock"] = status.canUnlock()
        case let status as OktaAuthStatusFactorEnroll: can["skip"] = status.canSkipEnrollment()
        case let status as OktaAuthStatusFactorEnrollActivate:
            (can["activate"], can["resend"]) = (status.factor.canActivate(), status.canResend())
        case let status as OktaAuthStatusFactorChallenge: (can["verify"], can["resend"]) = (status.canVerify(), status.canResend())
        default: break
        }
        return can.filter(\.value).keys.sorted().joined(separator: " ")
    }
}

extension Collection where Element == OktaFactor {
    /// Returns the factor of a kind, as its own class.
    func first<Kind: OktaFactor>(_ type: FactorType, as kind: Kind.Type, sourceLocation: SourceLocation = #_sourceLocation) throws -> Kind {
        try #require(first { $0.type == type } as? Kind, "\(map(\.type))", sourceLocation: sourceLocation)
    }
}
