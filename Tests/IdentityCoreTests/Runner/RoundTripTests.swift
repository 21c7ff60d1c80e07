#if PostgreSQL
import Foundation
import JOSE
import Store
import TestSupport
import Testing

@testable import AuthnAPI
@testable import DeviceAPI
@testable import IdentityCore
@testable import OAuthEndpoints
@testable import OAuthWire
@testable import SignInPages

/// Counts the round trips to a real PostgreSQL server for which a request waits: one for its read and one for its commit. The suites beside
/// this one count the reads, the commits and the undeclared queries of each kind of request.
@Suite("Round trips to PostgreSQL", .enabled(if: OutsidePart.postgreSQL.isEnabled, Comment(rawValue: OutsidePart.postgreSQL.missingNote)))
struct RoundTripTests {
    private let store: any Store
    private let roundTrips: @Sendable () -> Int

    init() async throws {
        (store, roundTrips) = try await SeveralServers.countedStore()
    }

    /// Runs one request and compares its round trips.
    @discardableResult
    private func expect<Answer>(
        _ count: Int, location: SourceLocation = #_sourceLocation, _ request: () async throws -> Answer
    ) async throws -> Answer {
        let before = roundTrips()
        let answer = try await request()
        #expect(roundTrips() - before == count, sourceLocation: location)
        return answer
    }

    @Test(
        "Direct authentication waits for at most two round trips per request; only a correct password before a second factor takes a third")
    func direct() async throws {
        let org = try await PushFixture(store: store)
        let phone = try await org.enroll()
        let tokens = try await expect(2) { try await org.signIn(client: "one-factor-app").get() }
        _ = try await expect(2) { try await org.signIn(client: "one-factor-app", ["password": "wrong"]) }
        _ = try await expect(2) { try await org.signIn("unknown@example.com", client: "one-factor-app", ["password": "wrong"]) }
        // The third one loads the user's factors. Only a correct password may cause it.
        let mfaToken = try await expect(3) { try await org.mfaToken() }
        let code = try await expect(2) { try await org.challenge(mfaToken).get().secret() }
        #expect(try await expect(1) { try await org.poll(mfaToken, code, at: 12) }.refused == .authorizationPending)
        let challenge = try await expect(2) { try await org.newest(phone, at: 13) }
        let answer = try PushFixture.sign(phone, challenge, at: 13)
        try await expect(2) { _ = try await org.send(answer, at: 13).get() }
        try await expect(2) { _ = try await org.poll(mfaToken, code, at: 20).get() }
        try await expect(2) { _ = try await org.primary(at: 60).get() }
        try await expect(2) { _ = try await org.backchannel(at: 120).get() }
        let refreshed = try await expect(2) {
            try await org.token(
                ["grant_type": "refresh_token", "refresh_token": tokens.refreshToken ?? ""], client: "one-factor-app", at: 130
            ).get()
        }
        try await expect(1) {
            _ = try await org.engine.userInfo(accessToken: refreshed.accessToken, server: "default", context: PushFixture.context(131))
                .get()
        }
        try await expect(2) { try await org.revoke(refreshed.refreshToken ?? "", client: "one-factor-app", at: 132) }
        try await store.close()
    }

    @Test("The hosted pages wait for at most two round trips per request; only a correct password takes a third")
    func pages() async throws {
        let app = try await AppFixture(store: store, PageVisitor.prepare)
        let visitor = PageVisitor(app.engine)
        try await expect(2) { _ = try await visitor.authorize("page-vault") }
        let page = try await expect(1) { try await visitor.form() }
        func submit(_ password: String, login: String = PushFixture.jane) async throws {
            _ = try await visitor.submit(.password(login: login, password: password), on: page)
        }
        try await expect(2) { try await submit("wrong") }
        try await expect(2) { try await submit("wrong", login: "unknown@example.com") }
        // The third one loads the user's factors. Only a correct password may cause it.
        try await expect(3) { try await submit(TestOrganization.janesPassword) }
        let factors = try await expect(1) { try await visitor.form() }
        try await expect(2) { _ = try await visitor.submit(.appCode(app.code(at: visitor.seconds)), on: factors) }
        let code = try await expect(2) { try PageVisitor.code(try await visitor.load()) }
        try await expect(2) {
            _ = try await app.organization.token(
                [
                    "grant_type": "authorization_code", "code": code, "redirect_uri": PageVisitor.redirectURI,
                    "code_verifier": PageVisitor.verifier,
                ], client: "page-vault", at: 11
            ).get()
        }
        // Single sign-on: the session answers at once.
        try await expect(2) { _ = try PageVisitor.code(try await visitor.authorize()) }
        try await store.close()
    }

    @Test("The classic API waits for at most two round trips per request; only a correct password takes a third")
    func classic() async throws {
        let desk = try await CountedClassicClient(store)
        #expect(try await expect(2) { try await desk.signIn(password: "wrong") }.refusal == "E0000004")
        #expect(try await expect(2) { try await desk.signIn("unknown@example.com", password: "wrong") }.refusal == "E0000004")
        // The third one loads the user's factors. Only a correct password may cause it.
        let asked = try await expect(3) { try desk.shown(await desk.signIn()) }
        #expect(asked.status == .factorRequired)
        try await expect(1) { _ = try desk.shown(await desk.state()) }
        try await expect(2) { _ = try desk.shown(await desk.verify("totp", ClassicProof())) }
        let wrong = ClassicProof(passCode: desk.app.wrongCode(at: desk.seconds))
        #expect(try await expect(2) { try await desk.verify("totp", wrong) }.refusal == "E0000068")
        let right = ClassicProof(passCode: desk.app.code(at: desk.seconds))
        let done = try await expect(2) { try desk.shown(await desk.verify("totp", right)) }
        #expect(done.status == .success)
        try await expect(2) {
            _ = try await desk.engine.startSession(by: done.sessionToken ?? "", browser: BrowserSecrets(), context: desk.context).get()
        }
        try await store.close()
    }

    @Test("The requests of an enrolled phone wait for at most two round trips each")
    func devices() async throws {
        let org = try await PushFixture(store: store)
        var phone = try Phone(userID: try await org.userID())
        let token = try await org.signIn(scope: DeviceFixture.manage, client: "phone-app", server: nil, at: 1).get().accessToken
        try await expect(1) {
            _ = try await org.engine.authenticatorConfiguration(
                clientID: "phone-app", authorization: .bearer(token), context: PushFixture.context(1)
            ).get()
        }
        let body = phone.enrollment()
        let enrolled = try await expect(2) {
            try await org.engine.enrollDevice(body, authorization: .bearer(token), context: PushFixture.context(1)).get()
        }
        try phone.remember(enrolled)
        let known = phone
        try await expect(2) { _ = try await org.pending(known, at: 2) }
        try await expect(2) { try await org.change(known, ["pushToken": "00ff"], at: 3) }
        try await expect(2) { try await org.delete(known, at: 4) }
        try await store.close()
    }
}
#endif
