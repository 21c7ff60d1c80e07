import Foundation
import JOSE
import TestSupport
import Testing

@testable import DeviceAPI
@testable import IdentityCore
@testable import OAuthEndpoints

@Suite("ID token hints in back-channel requests")
struct TokenHintTests {
    private let org: PushFixture
    private let phone: Phone

    init() async throws {
        org = try await PushFixture { definition in
            definition.authorizationServers[2].accessPolicies = definition.authorizationServers[1].accessPolicies
            for index in definition.applications.indices where definition.applications[index].id == "bank" {
                definition.applications[index].grantTypes.append("password")
            }
        }
        phone = try await org.enroll()
    }

    private func tokens(server: String? = "default") async throws -> TokenResponse {
        try await org.signIn(client: "bank", server: server, at: 10).get()
    }

    private func ask(_ hint: String, at seconds: TimeInterval) async throws -> Result<StartedChallenge, Refusal> {
        try await org.backchannel(["scope": "openid", "id_token_hint": hint], at: seconds)
    }

    /// Returns a draft with the claims of a token, and with the key that signed it.
    private func draft(_ token: String) async throws -> TokenDraft {
        let parsed = try JSONWebSignature(parsing: token)
        let ring = try await org.engine.snapshot().keyRing
        let key = try #require(ring.lines.values.joined().first { $0.signer.keyID == parsed.keyID }?.signer)
        return TokenDraft(key: key, header: [:], claims: try parsed.unverifiedClaims().json)
    }

    @Test("An expired id_token_hint still identifies the user")
    func expired() async throws {
        let hint = try #require(try await tokens().idToken)
        let end = try #require(try claims(of: hint)["exp"]?.integerValue)
        let life = Double(end) - TestOrganization.start.timeIntervalSince1970
        // At the last time, the test removes expired records, and with them the grants of the sign-in.
        let times: [TimeInterval] = [life - 1, life, life + 1, 86_400]
        for later in times {
            if later == times.last { _ = try await org.engine.removeExpired(now: TestOrganization.time(later), limit: 10_000) }
            let started = try await ask(hint, at: later).get()
            #expect(try await org.answer(phone, at: later + 1).get() == .approved)
            let own = try await org.pollBackchannel(started.secret(), at: later + 2).get()
            #expect(try claims(of: own.idToken)["sub"]?.stringValue == phone.userID)
        }
    }

    @Test("A backchannel request with the id_token_hint of a suspended account is rejected with unknown_user_id")
    func closed() async throws {
        let hint = try #require(try await tokens().idToken)
        _ = try await org.engine.setStatus(userID: phone.userID, to: .suspended, context: PushFixture.context(20))
        #expect(try await ask(hint, at: 21).refused == .unknownUserID)
        #expect(try await ask(hint, at: 100_000).refused == .unknownUserID)
    }

    /// A value that resembles an ID token of this client and server but is none.
    enum Almost: CaseIterable, Sendable {
        case ofAStrangersKey, unsigned, withThePublicKeyAsSecret, tampered, cut, ofAnotherServer, ofTheOrgServer, anAccessToken
        case aRefreshToken, aChallenge, ofAnotherClient, ofAnotherIssuer, issuedInTheFuture
    }

    private func hint(_ almost: Almost) async throws -> String {
        let issued = try await tokens()
        let good = try #require(issued.idToken)
        let parts = good.split(separator: ".")
        var draft = try await draft(good)
        switch almost {
        case .ofAStrangersKey: draft.key = try .generate(draft.key.algorithm, keyID: draft.key.keyID)
        case .unsigned:
            let header: JSONValue = ["alg": "none", "kid": .string(draft.key.keyID ?? "")]
            return "\(Base64URL.encode(header.serialized())).\(parts[1])."
        case .withThePublicKeyAsSecret:
            draft.key = try .secret(draft.key.publicKey?.json().serialized() ?? [], algorithm: .hs256, keyID: draft.key.keyID)
        case .tampered:
            let john = Base64URL.encode(draft.with("sub", .string(try await org.userID(PushFixture.john))).claims.serialized())
            return "\(parts[0]).\(john).\(parts[2])"
        case .cut: return String(good.dropLast(20))
        case .ofAnotherServer: return try #require(try await tokens(server: "other").idToken)
        case .ofTheOrgServer: return try #require(try await tokens(server: nil).idToken)
        case .anAccessToken: return issued.accessToken
        case .aRefreshToken: return try #require(issued.refreshToken)
        case .aChallenge:
            _ = try await org.waiting(at: 20)
            let authorization = DeviceAuthorization.ssws(try phone.authorization(at: 21).signed())
            let list = try await org.engine.pendingChallenges(
                enrollmentID: phone.enrollmentID, authorization: authorization, context: PushFixture.context(21)
            ).get()
            return try #require(list.arrayValue?.first?["challenge"]?.stringValue)
        case .ofAnotherClient: return try #require(try await org.signIn(client: "one-factor-app", at: 10).get().idToken)
        case .ofAnotherIssuer: draft.claims["iss"] = "https://id.test/oauth2/other"
        case .issuedInTheFuture: draft.claims["iat"] = .integer((draft.claims["iat"]?.integerValue ?? 0) + 3_600)
        }
        return try draft.signed()
    }

    @Test(
        "A back-channel request with an altered or foreign id_token_hint is rejected with unknown_user_id, and no phone gets a challenge",
        arguments: Almost.allCases)
    func refused(almost: Almost) async throws {
        let hint = try await hint(almost)
        let waiting = try await org.pending(phone, at: 22).count
        #expect(try await ask(hint, at: 22).refused == .unknownUserID)
        #expect(try await org.pending(phone, at: 23).count == waiting)
        // The expired token is refused too: only the expiry of a hint is ignored, no other error.
        if almost != .issuedInTheFuture { #expect(try await ask(hint, at: 100_000).refused == .unknownUserID) }
        #expect(try await org.pending(phone, at: 100_001).isEmpty)
    }

    @Test("An id_token_hint that is signed again without a change identifies the user")
    func unchanged() async throws {
        let good = try #require(try await tokens().idToken)
        _ = try await ask(draft(good).signed(), at: 20).get()
        #expect(try await org.pending(phone, at: 21).count == 1)
    }
}
