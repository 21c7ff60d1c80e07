import Crypto
import Foundation
import JOSE
import TestSupport
import Testing

@testable import AuthnAPI
@testable import IdentityCore
@testable import OAuthEndpoints
@testable import OAuthWire
@testable import Store

/// During a rotation, some servers have the earlier master key first and others the new one. Each test begins at one kind of server and
/// continues at the other, before and after the secrets of the store are encrypted again.
@Suite("Servers with the same master keys in different orders")
struct MixedMasterKeysTests {
    /// The order of the two servers, and whether the store is rotated.
    enum Situation: CaseIterable { case earlierFirst, newFirst, earlierFirstRotated, newFirstRotated }

    private struct Servers {
        let fixture: RotationFixture
        /// Answers the first request.
        let first: Engine
        /// Answers the second request.
        let second: Engine

        init(_ situation: Situation) async throws {
            fixture = try await RotationFixture(store: InMemoryStore()) {
                $0.users.append(UserDefinition(login: MixedMasterKeysTests.fresh, password: "Battery-Staple-9"))
            }
            if [.earlierFirstRotated, .newFirstRotated].contains(situation) { try await fixture.rotate() }
            let earlier = try fixture.engine(RotationFixture.earlier, RotationFixture.new, seed: 11)
            let new = try fixture.engine(RotationFixture.new, RotationFixture.earlier, seed: 12)
            (first, second) = [.earlierFirst, .earlierFirstRotated].contains(situation) ? (earlier, new) : (new, earlier)
        }
    }

    /// A user without a second factor.
    private static let fresh = "fresh@example.com"

    private static func transaction(_ result: Result<ClassicAnswer, ClassicRefusal>) throws -> ClassicTransaction {
        guard case .transaction(let transaction) = try result.get().outcome else { throw NoSuchThing("transaction") }
        return transaction
    }

    private static func signIn(_ login: String, at engine: Engine) async throws -> ClassicTransaction {
        try transaction(
            try await engine.classicSignIn(
                ClassicRequest(username: login, password: "Battery-Staple-9"), caller: ClassicCaller(), context: RotationFixture.context(40)
            ))
    }

    @Test("An authenticator app that is enrolled at one server signs in at the other", arguments: Situation.allCases)
    func app(situation: Situation) async throws {
        let servers = try await Servers(situation)
        let user = try #require(try await servers.first.user(login: Self.fresh))
        let offer = try #require(try await servers.first.grantAuthenticatorApp(userID: user.id, context: RotationFixture.context(30)))
        let secret = try #require(Base32.decode(offer.secret))
        let asked = try await Self.signIn(Self.fresh, at: servers.first)
        #expect(asked.status == .factorRequired)
        let code = TimeBasedCode.code(secret: secret, step: TimeBasedCode.step(at: TestOrganization.time(40)))
        let done = try Self.transaction(
            try await servers.second.classicVerify(
                factorID: offer.id, ClassicProof(passCode: code), stateToken: asked.stateToken ?? "", context: RotationFixture.context(41)))
        #expect(done.status == .success)
    }

    @Test("A code that one server sent is accepted by the other", arguments: Situation.allCases)
    func sentCode(situation: Situation) async throws {
        let servers = try await Servers(situation)
        let user = try #require(try await servers.first.user(login: Self.fresh))
        let number = try #require(PhoneNumber("+49 30 5550123"))
        let id = try #require(
            try await servers.first.grantCodeFactor(
                .sms, to: CodeDestination(number), userID: user.id, context: RotationFixture.context(30)))
        let asked = try await Self.signIn(Self.fresh, at: servers.first)
        _ = try Self.transaction(
            try await servers.first.classicVerify(
                factorID: id, ClassicProof(), stateToken: asked.stateToken ?? "", context: RotationFixture.context(41)))
        let code = try #require(servers.first.outbox.messages.last?.code)
        let wrong = code == "000000" ? "000001" : "000000"
        func verify(_ code: String) async throws -> Result<ClassicAnswer, ClassicRefusal> {
            try await servers.second.classicVerify(
                factorID: id, ClassicProof(passCode: code), stateToken: asked.stateToken ?? "", context: RotationFixture.context(42))
        }
        #expect(try await verify(wrong).refusal == "E0000068")
        #expect(try Self.transaction(try await verify(code)).status == .success)
    }

    @Test("The QR code of an enrollment that began at one server is shown by the other", arguments: Situation.allCases, ["push", "app"])
    func picture(situation: Situation, factor: String) async throws {
        let servers = try await Servers(situation)
        let user = try #require(try await servers.first.user(login: Self.fresh))
        let status = try await Self.signIn(Self.fresh, at: servers.first)
        #expect(status.status == .factorEnroll)
        let request =
            factor == "push"
            ? ClassicEnrollmentRequest(type: "push", provider: "OKTA")
            : ClassicEnrollmentRequest(type: "token:software:totp", provider: "GOOGLE")
        let begun = try Self.transaction(
            try await servers.first.classicEnroll(request, stateToken: status.stateToken ?? "", context: RotationFixture.context(41)))
        let id = try #require(begun.factor?.id)
        let token = try #require(begun.factor?.activation?.pictureToken)
        let text = try await servers.second.classicPicture(
            userID: user.id, factorID: id, token: token, context: RotationFixture.context(42))
        #expect(text?.contains(factor == "push" ? "ticket=" : "otpauth://") == true)
        let forged = try await servers.second.classicPicture(
            userID: user.id, factorID: id, token: "\(token.dropLast(2))AA", context: RotationFixture.context(42))
        #expect(forged == nil)
    }

    @Test("A DPoP nonce of one server is accepted by the other, and rejected by a server with another key", arguments: Situation.allCases)
    func nonce(situation: Situation) async throws {
        let servers = try await Servers(situation)
        let (maker, now) = (try ProofMaker(), TestOrganization.start)
        func possession(_ engine: Engine, nonce: String?) throws -> ProofOfPossession {
            let proof = try DPoPProof(verifying: maker.proof("POST", TestOrganization.tokenURL("default"), at: now, nonce: nonce))
            return try engine.proofs.possession(proof, nonceIsDemanded: nonce != nil, now: now)
        }
        let nonce = try #require(try possession(servers.first, nonce: nil).nextNonce)
        #expect(try possession(servers.second, nonce: nonce).nextNonce != nonce)
        let stranger = try servers.fixture.engine(SymmetricKey(size: .bits256))
        #expect(throws: Refusal.self) { try possession(stranger, nonce: nonce) }
    }

    @Test("The org file's secrets are encrypted with the key of the store, whichever key the applying server has first")
    func orgFile() async throws {
        let servers = try await Servers(.earlierFirstRotated)
        var definition = try await servers.first.snapshot().organization
        definition.users = PushFixture.definition.users
        let index = try #require(definition.applications.firstIndex { $0.id == "service-app" })
        definition.applications[index].secret = "another-secret-of-the-service-0123"
        _ = try await servers.first.apply(definition, context: RotationFixture.context(50))
        try await servers.first.rotateKeys(.forced, context: RotationFixture.context(51), making: { try SigningKey.generate($0) })
        // A server with the new key only reads the configuration.
        let snapshot = try await servers.fixture.engine(RotationFixture.new).snapshot()
        #expect(snapshot.application("service-app")?.secret == "another-secret-of-the-service-0123")
        #expect(try await servers.fixture.opened(by: RotationFixture.earlier).isEmpty)
    }
}
