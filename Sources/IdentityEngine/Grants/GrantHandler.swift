internal import Foundation

/// The verdict of a grant's check: that of the factor, or a refusal that the check met.
typealias GrantVerdict = Result<FactorVerdict, Refusal>

/// A grant type of the token endpoint: what it reads, and what it decides. A new grant is one type and a line in the table.
///
/// The endpoint implements the phases that all grants share (``IdentityEngine/token(_:context:)``). A handler reads the state of its grant
/// in the request's read, can return a slow check, and decides.
protocol GrantHandler: Sendable {
    /// The `grant_type`.
    static var grantType: String { get }

    /// Reads what it needs, synchronously, in the request's one read.
    ///
    /// - Throws: ``Refusal``, ``StoreError``.
    init(_ request: AdmittedRequest, reading: Reading<GrantVerdict>) throws

    /// The slow check that the decision needs; `nil` for none.
    func check(_ engine: IdentityEngine) throws -> Check<GrantVerdict>?

    /// Whether the decision needs another read, which knows the verdict.
    func needsMore(_ verdict: GrantVerdict) -> Bool

    /// Decides.
    ///
    /// - Parameters:
    ///   - engine: The source of random bytes and the in-memory counters.
    ///   - verdict: The verdict of the check; `nil` without one.
    /// - Returns: Tokens or a refusal, with what is committed before the answer is given.
    /// - Throws: ``Refusal`` when there is nothing to commit with it, ``StoreError``.
    func decide(_ engine: IdentityEngine, _ verdict: FactorVerdict?) throws -> TokenDecision
}

extension GrantHandler {
    func check(_ engine: IdentityEngine) throws -> Check<GrantVerdict>? { nil }
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

/// A token request whose server, client and grant type were found good.
struct AdmittedRequest: Sendable {
    let snapshot: OrgSnapshot
    let server: AuthorizationServerDefinition
    let application: Application
    let grantType: String
    let parameters: [String: String]
    let context: RequestContext
    /// Marks the client's assertion as used.
    let assertionUse: Change?
    /// The key that the client has shown to have, to which its tokens will be bound; nil if it sent no proof.
    var proof: ProofOfPossession?
    /// Whether it was decided before, and somebody else was faster.
    var isRepeated = false
    /// Whether another request committed first.
    var hasConflicted = false

    /// The use of the client's assertion; `type` is that of the log event if the assertion was used before, `nil` for none.
    func assertionUses<Success>(logging type: String?) -> [Plan<Result<Success, Refusal>>.SingleUse] {
        guard let assertionUse else { return [] }
        let used = ClientAuthenticator.wrong("client.assertion: used")
        let event = type.map { LoggedEvent($0, .failure, reason: used.reason, clientID: application.id, server: server.id) }
        return [.init(change: assertionUse, refused: .failure(used), event: event)]
    }

    /// The use of the client's proof of possession.
    func proofUses<Success>() -> [Plan<Result<Success, Refusal>>.SingleUse] {
        proof.map { [.init(change: $0.use.change, refused: .failure(.usedProof))] } ?? []
    }

    /// Refuses an assertion or a proof that was used before, so that a replay causes no further work.
    func refuseRepeatedUse(in view: any StoreView) throws {
        if case .put(let record)? = assertionUse, try view.record(record.kind, id: record.id) != nil {
            throw ClientAuthenticator.wrong("client.assertion: used")
        }
        if try proof?.use.isMade(in: view) == true { throw Refusal.usedProof }
    }

    /// The grant type, if it is one that the endpoint knows; what a stranger invents is neither hashed nor logged.
    var knownGrantType: String? {
        grantType.utf8.count <= 100 && IdentityEngine.grantHandlers[grantType] != nil ? grantType : nil
    }

    /// A parameter that is there and not empty (RFC 6749 section 3.1: an empty one counts as left out).
    subscript(name: String) -> String? { parameters[name].flatMap { $0.isEmpty ? nil : $0 } }

    /// A parameter that must be there.
    func required(_ name: String) throws(Refusal) -> String {
        guard let value = self[name] else {
            throw Refusal(.invalidRequest, "The request needs the parameter \(name).", reason: "parameter.missing: \(name)")
        }
        return value
    }

    /// What signs the tokens of this request.
    func issuer(_ engine: IdentityEngine) -> TokenIssuer {
        TokenIssuer(
            snapshot: snapshot, server: server, application: application, random: engine.environment.random, now: context.now,
            keyThumbprint: proof?.thumbprint)
    }

    /// The key that a new grant is bound to: the tokens of a client that authenticates itself are bound to that already, and it
    /// may change its key (RFC 9449 section 5).
    var boundKeyThumbprint: String? { application.isConfidential ? nil : proof?.thumbprint }

    /// Sees to it that the request was proved with the key that something was bound to before: a code by `dpop_jkt` (RFC 9449
    /// section 10), a refresh token by the request that it was given to (section 5). Ask before anything is taken or revoked.
    ///
    /// - Parameter thumbprint: The key's thumbprint; nil if it was not bound, which any key and none may use.
    /// - Throws: ``Refusal`` with `invalid_dpop_proof`.
    func requireKey(_ thumbprint: String?) throws(Refusal) {
        guard let thumbprint, proof?.thumbprint != thumbprint else { return }
        throw proof == nil
            ? .invalidProof("The request needs a proof by the key that the grant is bound to.", reason: "dpop: no proof of the bound key")
            : .invalidProof("The proof is by another key than the one that the grant is bound to.", reason: "dpop: another key")
    }
}

/// What a handler decided.
enum TokenDecision: Sendable {
    case issued(TokenResponse, Writes, rule: String, userID: String?)
    /// `isGuess` marks a wrong answer to a factor, whose counters are committed even if the request's proof or assertion was used before.
    case refused(Refusal, Writes, userID: String?, isGuess: Bool = false)
}

extension IdentityEngine {
    /// The `grant_type` values that the token endpoint knows, ordered by name.
    public static var supportedGrantTypes: [String] { grantHandlers.keys.sorted() }

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
