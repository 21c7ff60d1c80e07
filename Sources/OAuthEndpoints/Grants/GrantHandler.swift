internal import Foundation
package import IdentityCore
package import OAuthWire
internal import Store

/// The verdict of a grant's check: that of the factor, or a refusal that the check met.
package typealias GrantVerdict = Result<FactorVerdict, Refusal>

/// A grant type of the token endpoint: what it reads, and what it decides. A new grant is one type and a line in the table.
///
/// The endpoint implements the phases that all grants share (``Engine/token(_:context:)``). A handler reads the state of its grant
/// in the request's read, can return a slow check, and decides.
package protocol GrantHandler: Sendable {
    /// The `grant_type`.
    static var grantType: String { get }

    /// Reads what it needs, synchronously, in the request's one read.
    ///
    /// - Throws: ``Refusal``, ``StoreError``.
    init(_ request: AdmittedRequest, reading: Reading<GrantVerdict>) throws

    /// The slow check that the decision needs; `nil` for none.
    func check(_ engine: Engine) throws -> Check<GrantVerdict>?

    /// Whether the decision needs another read, which knows the verdict.
    func needsMore(_ verdict: GrantVerdict) -> Bool

    /// Decides.
    ///
    /// - Parameters:
    ///   - engine: The source of random bytes and the in-memory counters.
    ///   - verdict: The verdict of the check; `nil` without one.
    /// - Returns: Tokens or a refusal, with what is committed before the answer is given.
    /// - Throws: ``Refusal`` when there is nothing to commit with it, ``StoreError``.
    func decide(_ engine: Engine, _ verdict: FactorVerdict?) throws -> TokenDecision
}

extension GrantHandler {
    func check(_ engine: Engine) throws -> Check<GrantVerdict>? { nil }
    func needsMore(_ verdict: GrantVerdict) -> Bool { false }
}

/// A grant that asks nothing of the store but the configuration, so that the cached one may do.
protocol ConfigurationGrantHandler: GrantHandler {
    /// Checks the request.
    ///
    /// - Throws: ``Refusal``.
    init(_ request: AdmittedRequest) throws(Refusal)
}

extension ConfigurationGrantHandler {
    init(_ request: AdmittedRequest, reading: Reading<GrantVerdict>) throws {
        try self.init(request)
    }
}

/// What a handler decided.
package enum TokenDecision: Sendable {
    case issued(TokenResponse, Writes, rule: String, userID: String?)
    /// `isGuess` marks a wrong answer to a factor, whose counters are committed even if the request's proof or assertion was used before.
    case refused(Refusal, Writes, userID: String?, isGuess: Bool = false)
}

extension Engine {
    /// The `grant_type` values that the token endpoint knows, ordered by name.
    package static var supportedGrantTypes: [String] { grantHandlers.keys.sorted() }

    /// The grants that the token endpoint knows.
    static let grantHandlers: [String: any GrantHandler.Type] = Dictionary(
        [
            PasswordGrant.self, AuthorizationCodeGrant.self, RefreshTokenGrant.self, ClientCredentialsGrant.self, OOBGrant.self,
            SecondFactorOOBGrant.self, OTPGrant.self, SecondFactorOTPGrant.self, BackchannelGrant.self, JWTBearerGrant.self,
            DeviceCodeGrant.self, TokenExchangeGrant.self, EnrollmentTicketGrant.self,
        ].map {
            (handler: any GrantHandler.Type) in
            (handler.grantType, handler)
        }, uniquingKeysWith: { first, _ in first })
}

extension AdmittedRequest {
    /// The grant type, if it is one that the endpoint knows; what a stranger invents is neither hashed nor logged.
    var knownGrantType: String? {
        grantType.utf8.count <= 100 && Engine.grantHandlers[grantType] != nil ? grantType : nil
    }
}

/// A grant whose client repeats its request until the user has decided.
protocol PollGrantHandler: GrantHandler {
    /// What a client waits for whose request is pending; `nil` if this request waits for nothing.
    var awaited: AwaitedDecision? { get }
}

/// The decision that a poll waits for.
struct AwaitedDecision: Sendable {
    /// The digest of the secret that the client polls with.
    let digest: TicketDigest
    let clientID: String
    let transactionID: String
    /// The version of the transaction that the poll has read.
    let version: Int64
    /// The time from which on the poll is refused.
    let expiresAt: Date
}

extension AwaitedDecision {
    init(digest: TicketDigest, transaction: SignInTransaction, version: Int64, expiresAt: Date) {
        self.init(
            digest: digest, clientID: transaction.applicationID, transactionID: transaction.id, version: version, expiresAt: expiresAt)
    }
}
