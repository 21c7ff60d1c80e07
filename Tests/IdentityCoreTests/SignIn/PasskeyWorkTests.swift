import CountersignSandbox
import Foundation
import JOSE
import TestSupport
import Testing
import WebAuthn

@testable import IdentityCore
@testable import OAuthEndpoints
@testable import OAuthWire
@testable import Store

/// Tests that the work of the grant `webauthn` reveals neither whether a user name is known nor whether the user has passkeys. Like
/// ``UniformWorkTests``, the tests compare counts and never times.
@Suite("The work for a wrong signature of a passkey")
struct PasskeyWorkTests {
    private static let people = ["plain", "one-passkey", "two-passkeys", "phone", "suspended", "unassigned"]
    private static let unknown = (0..<500).map { "stranger\($0)@example.com" }

    private let store: MeteredStore
    private let org: PushFixture
    /// An authenticator whose credential no account has.
    private let attacker: SoftwareAuthenticator

    init() async throws {
        store = MeteredStore()
        org = try await PushFixture(store: store) { definition in
            definition.passkeys = PasskeyPolicy()
            definition.passwordPolicy.scryptLogN = 10
            definition.rateLimits = RateLimits(
                perClient: 1_000_000, perAddress: 1_000_000, perAddressSignIns: 1_000_000, perUser: 1_000_000)
            for person in Self.people {
                definition.users.append(
                    UserDefinition(
                        login: Self.login(person), groups: person == "unassigned" ? [] : ["staff"], password: "Battery-Staple-9",
                        status: person == "suspended" ? .suspended : .active))
            }
            for index in definition.applications.indices where definition.applications[index].id == "one-factor-app" {
                definition.applications[index].assignment = .init(groups: ["staff"])
            }
        }
        var (stolen, random) = (SoftwareAuthenticator(), SystemRandomNumberGenerator())
        for (person, count) in [("one-passkey", 1), ("two-passkeys", 2)] {
            for number in 0..<count {
                var authenticator = SoftwareAuthenticator()
                _ = try await org.engine.grantPasskey(
                    toUser: org.userID(Self.login(person)), name: "\(number)", context: PushFixture.context(5)
                ) { options, origin in
                    // The same options give the attacker a credential of the right domain.
                    if stolen.credentials.isEmpty { _ = try stolen.create(options, origin: origin, using: &random) }
                    return try authenticator.create(options, origin: origin, using: &random)
                }
            }
        }
        attacker = stolen
    }

    /// The parts of an answer that can change the work.
    struct Answer: Sendable {
        var flags: AuthenticatorData.Flags?
        var userHandle: String?

        static let all = [
            Answer(), Answer(flags: [.userPresent, .userVerified]),
            // The id of the records for unknown names, and a random handle.
            Answer(userHandle: Base64URL.encode(Array("decoy".utf8))), Answer(userHandle: "dW5rbm93bg"),
        ]
    }

    private static func login(_ person: String) -> String { "\(person)@example.com" }

    /// Starts a sign-in, answers its challenge with the attacker's signature, and returns the work of the answer.
    private func wrongAnswer(_ login: String, _ answer: Answer) async throws -> UniformWorkTests.Work {
        let started = try await org.primary(login, at: 60, ["challenge_hint": GrantType.webAuthn]).get()
        let challenge = try #require(started.members["publicKey"]?["challenge"]?.stringValue)
        var authenticator = attacker
        if let flags = answer.flags { authenticator.flags = flags }
        let domain = try #require(started.members["publicKey"]?["rpId"]?.stringValue)
        let options = try RequestOptions(relyingPartyID: domain, challenge: Base64URL.decode(challenge), allowed: [])
        var parameters = try #require(try authenticator.get(options, origin: "https://\(domain)")["response"]?.objectValue)
            .compactMapValues(\.stringValue)
        parameters["userHandle"] = answer.userHandle
        parameters["grant_type"] = GrantType.webAuthn
        parameters["scope"] = "openid"
        let meter = OperationMeter()
        _ = store.take()
        let answer = try await OperationMeter.$current.withValue(meter) { [parameters] in
            try await org.token(parameters, client: "one-factor-app", at: 61)
        }
        #expect(answer.refused == .invalidGrant)
        // All rows come from one lookup, so which of them exist is not compared.
        let rows = ["record ", "records "]
        return meter.take().reduce(into: store.take()) { $0[$1.key.rawValue] = $1.value }
            .filter { work in !rows.contains { work.key.hasPrefix($0) } }
    }

    @Test(
        "For every known user, a wrong signature causes the same signature checks, reads and writes as for several unknown user names",
        arguments: Answer.all)
    func wrongSignatures(_ answer: Answer) async throws {
        var works: [UniformWorkTests.Work: Int] = [:]
        for name in Self.unknown { works[try await wrongAnswer(name, answer), default: 0] += 1 }
        for person in Self.people {
            let own = try await wrongAnswer(Self.login(person), answer)
            // A wrong handle ends the check before the signature.
            #expect((own["signature"] ?? 0 >= 1) == (answer.userHandle == nil))
            #expect(works[own, default: 0] >= 3, "\(person): \(own)\n\(works)")
        }
    }
}
