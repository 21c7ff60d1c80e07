import Foundation
import JOSE
import StoreSQLite
import TestSupport
import Testing

@testable import DeviceAPI
@testable import IdentityCore
@testable import OAuthEndpoints
@testable import Store

@Suite("Signing in with a code of an authenticator app")
struct CodeSignInTests {
    @Test("A password and a code of an authenticator app complete a two-factor sign-in")
    func twoFactors() async throws {
        let fixture = try await AppFixture()
        let answer = try await fixture.organization.signIn()
        guard case .failure(let asked) = answer else { throw NoSuchThing("mfa_required") }
        #expect(asked.members["supported_challenge_types"] == .string(AppFixture.secondFactor))
        let token = try #require(asked.members["mfa_token"]?.stringValue)
        let response = try await fixture.second(token, fixture.code(at: 12)).get()
        let claims = try claims(of: response.idToken)
        #expect(claims["amr"] == ["pwd", "otp", "mfa"])
        // The code was used at most a second before the tokens were issued.
        #expect(claims["auth_time"] == .integer(Int64(TestOrganization.time(11).timeIntervalSince1970)))
        #expect(response.scopes == ["openid", "offline_access"])
        #expect(try await fixture.organization.log("user.authentication.totp").map(\.outcome) == [.success])
        // The sign-in is complete: neither the code nor the token is valid again.
        #expect(try await fixture.second(token, fixture.code(at: 42), at: 42).reason == "mfa_token: unknown")
    }

    @Test("A sign-in with only an authenticator code counts as one factor")
    func oneFactor() async throws {
        let fixture = try await AppFixture()
        let response = try await fixture.first(fixture.code(at: 12)).get()
        #expect(try claims(of: response.idToken)["amr"] == ["otp"])
        let refused = try await fixture.first(fixture.code(at: 42), client: "direct-app", at: 42)
        #expect(refused.refused == .accessDenied && refused.reason?.hasSuffix("no usable second factor") == true)
    }

    @Test("After an app code as first factor, only a phone with a user verification key is accepted as second factor")
    func codeThenPush() async throws {
        let simple = try await AppFixture(prepare: { _ = try await $0.enroll() })
        #expect(try await simple.first(simple.code(at: 12), client: "direct-app").refused == .accessDenied)
        let fixture = try await AppFixture(prepare: { _ = try await $0.enroll(userVerification: true) })
        let asked = try await fixture.first(fixture.code(at: 12), client: "direct-app")
        guard case .failure(let refusal) = asked, refusal.code == .mfaRequired else { throw NoSuchThing("mfa_required") }
        #expect(refusal.members["supported_challenge_types"] == .string(PushFixture.secondFactor))
        let token = try #require(refusal.members["mfa_token"]?.stringValue)
        #expect(!token.isEmpty)
    }

    @Test("In a sign-in that began with a code of an authenticator app, the push requires the phone's user verification key")
    func mustVerify() async throws {
        var enrolled: Phone?
        let fixture = try await AppFixture(prepare: { enrolled = try await $0.enroll(userVerification: true) })
        let phone = try #require(enrolled)
        guard case .failure(let refusal) = try await fixture.first(fixture.code(at: 12), client: "direct-app"),
            let token = refusal.members["mfa_token"]?.stringValue
        else { throw NoSuchThing("mfa_required") }
        let code = try await fixture.organization.challenge(token, at: 13).get().secret()
        #expect(try await fixture.organization.newest(phone, at: 13)["userVerification"] == "REQUIRED")
        _ = try await fixture.organization.answer(
            phone, consent: "APPROVED_USER_VERIFICATION", with: .userVerification, at: 14
        ).get()
        let response = try await fixture.organization.poll(token, code, at: 15).get()
        #expect(try claims(of: response.idToken)["amr"]?.stringArrayValue?.last == "mfa")
    }

    @Test("The mfa_token stays valid after four wrong authenticator codes, and the fifth wrong code consumes the token")
    func wrongCodes() async throws {
        let fixture = try await AppFixture()
        let token = try await fixture.organization.mfaToken()
        for _ in 0..<4 {
            let refused = try await fixture.second(token, fixture.wrongCode(at: 12))
            #expect(refused.refused == .invalidGrant && refused.reason == "wrong totp")
        }
        let other = try await fixture.organization.mfaToken(at: 11)
        #expect(try await fixture.second(token, fixture.wrongCode(at: 12)).reason == "wrong totp")
        #expect(try await fixture.second(token, fixture.code(at: 12)).reason == "mfa_token: unknown")
        #expect(try await fixture.stored().failedFurther == ["totp": 5])
        #expect(try await fixture.second(other, fixture.code(at: 12)).refused == nil)
        #expect(try await fixture.stored().failedFurther == nil)
    }

    @Test("Wrong authenticator codes lock the account, even if the user enters correct passwords in between")
    func lockout() async throws {
        let fixture = try await AppFixture { $0.passwordPolicy.lockoutAttempts = 6 }
        for round in 0..<3 {
            let token = try await fixture.organization.mfaToken()
            for _ in 0..<2 { #expect(try await fixture.second(token, fixture.wrongCode(at: 12)).refused == .invalidGrant) }
            // A complete sign-in at an app that requires only the password does not reset the count.
            if round < 2 { #expect(try await fixture.organization.signIn(client: "one-factor-app").refused == nil) }
            // The password does not reset the count either, although it made the origin known.
            #expect(try await fixture.stored().failedFurther == ["totp": (round + 1) * 2])
        }
        #expect(try await fixture.stored().hasLock)
        #expect(try await fixture.organization.log("user.account.lock").count == 1)
        #expect(try await fixture.organization.signIn().reason == "account is locked")
        // The lock of a code as first factor ends after the same time as the lock of a password.
        #expect(try await fixture.first(fixture.code(at: 912), at: 912).refused == nil)
    }

    @Test("Authenticator codes for an unknown user, a user without an app and a locked account get the response of a wrong code")
    func sameAnswer() async throws {
        let fixture = try await AppFixture { $0.passwordPolicy.lockoutAttempts = 1 }
        let answers = [
            try await fixture.first(fixture.code(at: 12), of: "unknown@example.com"),
            try await fixture.first("123456", of: PushFixture.john),
            try await fixture.first(fixture.wrongCode(at: 12)), try await fixture.first(fixture.code(at: 12)),
        ]
        #expect(answers.map(\.reason) == ["unknown user", "wrong totp", "wrong totp", "account is locked"])
        for case .failure(let refusal) in answers {
            #expect(refusal.code == .invalidGrant && refusal.description == "The credentials provided were invalid.")
        }
    }

    @Test("One rate limit per user covers authenticator codes as first factor and with an mfa_token")
    func limits() async throws {
        let fixture = try await AppFixture { $0.rateLimits.perUser = 3 }
        let token = try await fixture.organization.mfaToken()
        for _ in 0..<2 { #expect(try await fixture.second(token, fixture.wrongCode(at: 12)).refused == .invalidGrant) }
        #expect(try await fixture.second(token, fixture.code(at: 12)).refused == .tooManyRequests)
        #expect(try await fixture.first(fixture.code(at: 12)).refused == .tooManyRequests)
    }

    @Test("A used authenticator code and all earlier codes are rejected in every sign-in and with every grant type")
    func replay() async throws {
        let fixture = try await AppFixture()
        let code = fixture.code(at: 42)
        #expect(try await fixture.second(fixture.organization.mfaToken(), code, at: 42).refused == nil)
        #expect(try await fixture.second(fixture.organization.mfaToken(at: 43), code, at: 43).reason == "wrong totp")
        #expect(try await fixture.first(code, at: 43).reason == "wrong totp")
        #expect(try await fixture.first(fixture.code(at: 12), at: 43).reason == "wrong totp")
        #expect(try await fixture.first(fixture.code(at: 72), at: 43).refused == nil)
    }

    @Test("Of sixteen concurrent sign-ins with the same authenticator code, exactly one succeeds", arguments: [false, true])
    func race(_ isOnDisk: Bool) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "countersign-\(ProcessInfo.processInfo.globallyUniqueString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let store: any Store = isOnDisk ? try SQLiteStore(path: folder.appending(path: "store").path) : InMemoryStore()
        let fixture = try await AppFixture(store: store) {
            $0.passwordPolicy.lockoutAttempts = 0
            // The test makes 24 sign-in attempts for one user: 8 with a password and 16 with a code.
            $0.rateLimits.perUser = 24
        }
        var tokens: [String] = []
        for _ in 0..<8 { tokens.append(try await fixture.organization.mfaToken()) }
        let code = fixture.code(at: 12)
        let answers = try await withThrowingTaskGroup(of: Result<TokenResponse, Refusal>.self) { group in
            for token in tokens {
                group.addTask { try await fixture.second(token, code) }
                group.addTask { try await fixture.first(code) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.filter { $0.refused == nil }.count == 1)
        #expect(answers.compactMap(\.refused) == [Refusal.Code](repeating: .invalidGrant, count: 15))
        #expect(try await fixture.organization.grants().count == 1)
        try await store.close()
    }

    @Test("An mfa_token is valid only for its client and its server, and only within its lifetime")
    func borrowed() async throws {
        let fixture = try await AppFixture()
        let token = try await fixture.organization.mfaToken()
        let code = fixture.code(at: 12)
        #expect(try await fixture.second(token, code, client: "thief-app").reason == "mfa_token: unknown")
        #expect(try await fixture.second(token, code, server: nil).reason == "mfa_token: unknown")
        #expect(try await fixture.second("mfa_invented", code).reason == "mfa_token: unknown")
        #expect(try await fixture.second(token, fixture.code(at: 910), at: 910).refused == .invalidGrant)
        for parameters in [["mfa_token": token], ["otp": code]] {
            let incomplete = parameters.merging(["grant_type": AppFixture.secondFactor]) { $1 }
            #expect(try await fixture.organization.token(incomplete, at: 12).refused == .invalidRequest)
        }
    }

    @Test("A code of a removed authenticator app is rejected")
    func takenAway() async throws {
        let fixture = try await AppFixture()
        let token = try await fixture.organization.mfaToken()
        let enrollment = try #require(try await fixture.enrollments().first)
        let context = AuthenticationContext(
            userID: enrollment.userID, time: TestOrganization.time(11), methods: ["pwd", "otp", "mfa"])
        _ = try await fixture.engine.deleteTOTPEnrollment(id: enrollment.id, context, context: PushFixture.context(11)).get()
        #expect(try await fixture.second(token, fixture.code(at: 12)).reason == "wrong totp")
    }

    @Test(
        "An authenticator code is accepted after a denied push, but rejected after the user reported the push as suspicious",
        arguments: [false, true])
    func denied(isSuspicious: Bool) async throws {
        var enrolled: Phone?
        let fixture = try await AppFixture(prepare: { enrolled = try await $0.enroll() })
        let phone = try #require(enrolled)
        let waiting = try await fixture.organization.waiting()
        let denial = try PushFixture.sign(
            phone, try await fixture.organization.newest(phone, at: 12), consent: "DENIED_CONSENT_PROMPT", suspicious: isSuspicious, at: 12)
        #expect(try await fixture.organization.send(denial, at: 12).get() == .denied)
        let answer = try await fixture.second(waiting.mfaToken, fixture.code(at: 13), at: 13)
        #expect(answer.refused == (isSuspicious ? .accessDenied : nil) && answer.reason == (isSuspicious ? "rejected" : nil))
        #expect(try await fixture.organization.poll(waiting, at: 14).refused == .invalidGrant)
    }

    @Test("An authenticator code is accepted while a push is pending, and the pending push is cancelled")
    func instead() async throws {
        let fixture = try await AppFixture(prepare: { _ = try await $0.enroll() })
        let waiting = try await fixture.organization.waiting()
        #expect(try await fixture.second(waiting.mfaToken, fixture.code(at: 13), at: 13).refused == nil)
        #expect(try await fixture.organization.poll(waiting, at: 20).refused == .invalidGrant)
    }

    @Test("The challenge endpoint selects the authenticator app if the client supports codes, and rejects an unknown or used mfa_token")
    func challenge() async throws {
        let fixture = try await AppFixture()
        let token = try await fixture.organization.mfaToken()
        let asked = ["challenge_types_supported": AppFixture.secondFactor]
        let started = try await fixture.organization.challenge(token, asked).get()
        #expect(started.members == ["challenge_type": .string(AppFixture.secondFactor)] && fixture.organization.outbox.pushes.isEmpty)
        // The client supports both challenge types. The server selects the code, because no device is enrolled for a push.
        let both = ["challenge_types_supported": "\(PushFixture.secondFactor) \(AppFixture.secondFactor)", "channel_hint": ""]
        #expect(try await fixture.organization.challenge(token, both).get().members == started.members)
        let push = both.merging(["channel_hint": "push"]) { $1 }
        #expect(try await fixture.organization.challenge(token, push).refused == .accessDenied)
        #expect(try await fixture.organization.challenge("mfa_invented", asked).refused == .accessDenied)
        #expect(try await fixture.organization.challenge(token, client: "thief-app", asked).refused == .accessDenied)
        #expect(try await fixture.organization.challenge(token, client: "no-push-app", asked).refused == .unauthorizedClient)
        #expect(try await fixture.second(token, fixture.code(at: 13), at: 13).refused == nil)
        #expect(try await fixture.organization.challenge(token, asked).refused == .accessDenied)
    }

    @Test("The secret of an authenticator app is stored only encrypted, and the log contains no code")
    func secrecy() async throws {
        let fixture = try await AppFixture()
        let code = fixture.code(at: 12)
        _ = try await fixture.second(fixture.organization.mfaToken(), code).get()
        let records = try await fixture.organization.store.read { view in
            try RecordKind.allCases.flatMap { try view.records($0, after: nil, limit: 1_000) }
        }
        let encoded = Base32.encode(fixture.secret)
        let plain = fixture.secret.map(String.init).joined(separator: ",")
        for record in records {
            let payload = String(decoding: record.payload, as: UTF8.self)
            #expect(!payload.contains(encoded) && !payload.contains(plain) && !payload.contains(code))
        }
        let enrollment = try #require(try await fixture.enrollments().first)
        let other = EngineEnvironment(
            random: SeededRandom(), masterKeys: SignInFixture.environment(masterKey: 8).masterKeys, passwordHasher: PasswordHasher())
        #expect(throws: StoreError.self) { try enrollment.using(code: code, environment: other, now: TestOrganization.start) }
    }
}
