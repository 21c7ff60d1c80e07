internal import Foundation
package import IdentityCore
package import OAuthWire
package import Store

/// The verdict of a grant's check: the factor's verdict, or a refusal.
package typealias GrantVerdict = Result<FactorVerdict, Refusal>

/// A grant type of the token endpoint. ``Engine/token(_:context:)`` implements the phases that all grants share. A handler reads the state
/// of its grant, can return a slow check, and decides. A new grant type needs a handler, a line in ``Engine/grantHandlers``, and a constant
/// with an entry in ``GrantType/all``. The grant type of a second factor also needs a line in `secondFactorGrantTypes`.
package protocol GrantHandler: Sendable {
    static var grantType: String { get }

    /// Returns the rows to fetch for the read. `isProved` is whether an earlier check of the same request succeeded.
    static func lookup(_ parameters: [String: String], isProved: Bool, _ engine: Engine) -> Lookup

    /// Reads the state of the grant, in the same read as the client authentication. Throws ``Refusal`` or ``StoreError``.
    init(_ request: AdmittedRequest, reading: Reading<GrantVerdict>) throws

    /// Returns the slow check that the decision needs; `nil` for none. Throws ``Refusal``.
    func check(_ engine: Engine) throws -> Check<GrantVerdict>?

    /// Returns whether the decision needs another read, which gets the verdict.
    func needsMore(_ verdict: GrantVerdict) -> Bool

    /// Returns the decision. Its writes are committed before the response is sent. The verdict is `nil` without a check. Throws ``Refusal``
    /// if the request is refused without a write.
    func decide(_ engine: Engine, _ verdict: FactorVerdict?) throws -> TokenDecision
}

extension GrantHandler {
    static func lookup(_ parameters: [String: String], isProved: Bool, _ engine: Engine) -> Lookup { Lookup() }
    func check(_ engine: Engine) throws -> Check<GrantVerdict>? { nil }
    func needsMore(_ verdict: GrantVerdict) -> Bool { false }
}

/// A grant that needs only the configuration, so that no read of the store is necessary.
protocol ConfigurationGrantHandler: GrantHandler {
    init(_ request: AdmittedRequest) throws(Refusal)
}

extension ConfigurationGrantHandler {
    init(_ request: AdmittedRequest, reading: Reading<GrantVerdict>) throws {
        try self.init(request)
    }
}

/// The decision of a grant handler.
package enum TokenDecision: Sendable {
    case issued(TokenResponse, Writes, rule: String, userID: String?)
    /// `isGuess` marks a wrong answer to a factor. Its counters are committed even if the request's proof or assertion was used before.
    case refused(Refusal, Writes, userID: String?, isGuess: Bool = false)
}

extension Engine {
    /// The supported `grant_type` values, ordered by name.
    package static var supportedGrantTypes: [String] { grantHandlers.keys.sorted() }

    static let grantHandlers: [String: any GrantHandler.Type] = Dictionary(
        [
            PasswordGrant.self, AuthorizationCodeGrant.self, RefreshTokenGrant.self, ClientCredentialsGrant.self, OOBGrant.self,
            SecondFactorOOBGrant.self, OTPGrant.self, SecondFactorOTPGrant.self, BackchannelGrant.self, JWTBearerGrant.self,
            WebAuthnGrant.self, SecondFactorWebAuthnGrant.self, DeviceCodeGrant.self, TokenExchangeGrant.self, EnrollmentTicketGrant.self,
        ].map {
            (handler: any GrantHandler.Type) in
            (handler.grantType, handler)
        }, uniquingKeysWith: { first, _ in first })
}

extension AdmittedRequest {
    /// The grant type; `nil` if it is not supported. Too long values are not hashed, and unknown values are not logged.
    var knownGrantType: String? {
        grantType.utf8.count <= 100 && Engine.grantHandlers[grantType] != nil ? grantType : nil
    }
}

/// A grant whose client polls until the user has decided.
protocol PollGrantHandler: GrantHandler {
    /// The decision that a pending poll waits for; `nil` if this request waits for nothing.
    var awaited: AwaitedDecision? { get }
}

/// The decision of a user that a poll waits for.
struct AwaitedDecision: Sendable {
    /// The digest of the secret that the client polls with.
    let digest: TicketDigest
    let clientID: String
    let transactionID: String
    /// The version of the transaction that the poll has read.
    let version: Int64
    /// The time at which the request that the client polls for expires.
    let expiresAt: Date
}

extension AwaitedDecision {
    init(digest: TicketDigest, transaction: SignInTransaction, version: Int64, expiresAt: Date) {
        self.init(
            digest: digest, clientID: transaction.applicationID, transactionID: transaction.id, version: version, expiresAt: expiresAt)
    }
}
