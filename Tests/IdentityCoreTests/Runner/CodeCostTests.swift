import Foundation
import TestSupport
import Testing

@testable import IdentityCore
@testable import OAuthEndpoints

/// Checks the number of reads and commits of the codes of direct authentication: of authenticator apps and by text.
@Suite("Reads and commits of codes at the token endpoint", .serialized)
struct CodeCostTests {
    private let cost = RequestCost()
    private let app: AppFixture

    private var org: PushFixture { app.organization }

    init() async throws {
        app = try await AppFixture(store: cost.store)
    }

    @Test(
        "A wrong or correct app code as second factor makes one read and one commit, and the challenge request before the code makes one read"
    )
    func app() async throws {
        let mfaToken = try await org.mfaToken(at: 60)
        let parameters = ["challenge_types_supported": AppFixture.secondFactor, "channel_hint": ""]
        try await cost.expect(commits: 0) { _ = try await org.challenge(mfaToken, at: 61, parameters).get() }
        #expect(
            try await cost.expect { try await app.second(mfaToken, app.wrongCode(at: 62), at: 62) }.refused == .invalidGrant)
        try await cost.expect { _ = try await app.second(mfaToken, app.code(at: 63), at: 63).get() }
    }

    @Test("An app code as first factor makes one read and one commit, whether the code is wrong or correct or the user name is unknown")
    func first() async throws {
        #expect(try await cost.expect { try await app.first(app.wrongCode(at: 62), at: 62) }.refused == .invalidGrant)
        #expect(
            try await cost.expect { try await app.first("123456", of: "unknown@example.com", at: 62) }.refused
                == .invalidGrant)
        try await cost.expect { _ = try await app.first(app.code(at: 63), at: 63).get() }
    }

    @Test("Sending and checking a code by text message make one read and one commit each, as first and as second factor")
    func text() async throws {
        let number = try #require(PhoneNumber("+49 30 5550123"))
        _ = try await org.engine.grantCodeFactor(.sms, to: CodeDestination(number), userID: org.userID(), context: PushFixture.context(1))
        let mfaToken = try await org.mfaToken(at: 60)
        let started = try await cost.expect { try await org.challenge(mfaToken, at: 61, ["channel_hint": "sms"]).get() }
        let code = try #require(org.outbox.messages.last?.code)
        func present(_ code: String) async throws -> Result<TokenResponse, Refusal> {
            let parameters = [
                "grant_type": PushFixture.secondFactor, "mfa_token": mfaToken, "oob_code": try started.secret(), "binding_code": code,
            ]
            return try await org.token(parameters, at: 62)
        }
        #expect(try await cost.expect { try await present(CodeFixture.other(than: code)) }.refused == .invalidGrant)
        try await cost.expect { _ = try await present(code).get() }

        let first = try await cost.expect { try await org.primary(at: 120, ["channel_hint": "sms"]).get() }
        try await cost.expect {
            let parameters = [
                "grant_type": PushFixture.firstFactor, "oob_code": try first.secret(), "scope": "openid",
                "binding_code": try #require(org.outbox.messages.last?.code),
            ]
            _ = try await org.token(parameters, client: "one-factor-app", at: 121).get()
        }
    }
}
