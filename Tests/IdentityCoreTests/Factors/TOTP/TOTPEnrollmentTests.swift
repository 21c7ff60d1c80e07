import Foundation
import Testing

@testable import IdentityCore
@testable import Store

@Suite("Setting up an authenticator app")
struct TOTPEnrollmentTests {
    private let organization: PushFixture
    private let jane: String

    init() async throws {
        organization = try await PushFixture { definition in
            for index in definition.applications.indices {
                definition.applications[index].grantTypes += [AppFixture.firstFactor, AppFixture.secondFactor]
            }
        }
        jane = try await organization.userID()
    }

    private func proved(_ methods: [String] = ["pwd"], at seconds: TimeInterval = 0, by userID: String? = nil) -> AuthenticationContext {
        AuthenticationContext(userID: userID ?? jane, time: TestOrganization.time(seconds), methods: methods)
    }

    private func begin(_ authentication: AuthenticationContext, at seconds: TimeInterval = 1) async throws -> Result<
        TOTPEnrollmentOffer, Refusal
    > {
        try await organization.engine.beginTOTPEnrollment(authentication, context: PushFixture.context(seconds))
    }

    private func confirm(
        _ offer: TOTPEnrollmentOffer, _ code: String? = nil, _ authentication: AuthenticationContext? = nil, at seconds: TimeInterval = 2
    ) async throws -> Result<Void, Refusal> {
        try await organization.engine.confirmTOTPEnrollment(
            id: offer.id, code: try code ?? shown(offer, at: seconds), authentication ?? proved(), context: PushFixture.context(seconds))
    }

    /// Returns the code of an app with the offered secret.
    private func shown(_ offer: TOTPEnrollmentOffer, at seconds: TimeInterval) throws -> String {
        let secret = try #require(Base32.decode(offer.secret))
        return TimeBasedCode.code(secret: secret, step: TimeBasedCode.step(at: TestOrganization.time(seconds)))
    }

    private func enrollments() async throws -> [Enrollment] {
        try await organization.store.read { [jane] in
            try $0.records(.enrollment, where: "user", is: jane, limit: 100).map(Enrollment.init)
        }
    }

    @Test("After a password sign-in, a code of the offered secret enrolls the authenticator app, and that code cannot be used again")
    func ceremony() async throws {
        let offer = try await begin(proved()).get()
        #expect(offer.expiresAt == TestOrganization.time(601))
        #expect(Base32.decode(offer.secret)?.count == 20)
        #expect(!"\(offer)".contains(offer.secret) && !String(reflecting: offer).contains(offer.secret))
        // The factor cannot be used before its confirmation.
        #expect(try await organization.signIn().refused == .accessDenied)
        #expect(try await organization.engine.totpEnrollments(ofUser: jane) == [])
        try await confirm(offer).get()
        #expect(try await organization.engine.totpEnrollments(ofUser: jane).map(\.id) == [offer.id])
        #expect(try await organization.log("user.mfa.factor.activate").map(\.reason) == ["totp"])
        // The confirmation has consumed the code of this time step.
        let token = try await organization.mfaToken()
        func second(_ seconds: TimeInterval) async throws -> Refusal.Code? {
            try await organization.token(
                ["grant_type": AppFixture.secondFactor, "mfa_token": token, "otp": shown(offer, at: seconds)], at: 12
            ).refused
        }
        #expect(try await second(2) == .invalidGrant)
        #expect(try await second(32) == nil)
    }

    @Test(
        "The otpauth URI contains the escaped names of the account and the organization",
        arguments: [
            ("Acme", "jane@example.com", "Acme:jane%40example.com", "Acme"),
            (
                "Bücher & Café: Köln", "jörg/x?y#z", "B%C3%BCcher%20%26%20Caf%C3%A9%20K%C3%B6ln:j%C3%B6rg%2Fx%3Fy%23z",
                "B%C3%BCcher%20%26%20Caf%C3%A9%20K%C3%B6ln"
            ),
            ("A+B", "a:b", "A%2BB:a%3Ab", "A%2BB"),
        ])
    func uri(_ issuer: String, _ account: String, _ label: String, _ parameter: String) {
        let offer = TOTPEnrollmentOffer(
            id: "enr1", secret: Array("12345678901234567890".utf8), issuer: issuer, account: account, expiresAt: TestOrganization.start)
        #expect(
            offer.uri
                == "otpauth://totp/\(label)?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=\(parameter)&algorithm=SHA1&digits=6&period=30")
    }

    @Test("A wrong code does not confirm a new authenticator app, and the correct code is still accepted afterwards")
    func wrongCode() async throws {
        let offer = try await begin(proved()).get()
        let wrong = try shown(offer, at: 2) == "000000" ? "111111" : "000000"
        let refused = try await confirm(offer, wrong)
        #expect(refused.refused == .invalidGrant && refused.reason == "totp: wrong code at enrollment")
        try await confirm(offer).get()
    }

    @Test("The pending secret of an authenticator app can be confirmed only once, within ten minutes, and only by its user")
    func pending() async throws {
        let john = try await organization.userID(PushFixture.john)
        let offer = try await begin(proved()).get()
        #expect(try await confirm(offer, nil, proved(by: john)).reason == "totp: nothing pending")
        #expect(try await confirm(offer, at: 601).reason == "totp: nothing pending")
        _ = try await organization.engine.removeExpired(now: TestOrganization.time(602), limit: 100)
        #expect(try await enrollments().isEmpty)
        let again = try await begin(proved(at: 602), at: 602).get()
        try await confirm(again, nil, proved(at: 602), at: 1_201).get()
        #expect(try await confirm(again, nil, proved(["pwd", "otp", "mfa"], at: 602), at: 1_201).reason == "totp: nothing pending")
        // The removal of expired records does not remove a confirmed factor.
        _ = try await organization.engine.removeExpired(now: TestOrganization.time(1e8), limit: 100)
        #expect(try await enrollments().map(\.id) == [again.id])
    }

    @Test("Enrolling an authenticator app requires a recent sign-in, and two factors if the user already has a second factor")
    func permission() async throws {
        #expect(try await begin(proved(), at: 901).reason == "factor: sign-in is too old")
        #expect(try await begin(proved(by: "00unobody")).refused == .accessDenied)
        let early = try await begin(proved()).get()
        _ = try await organization.enroll(at: 3)
        // The phone was enrolled after the sign-in, and is required in the same way.
        #expect(try await confirm(early, at: 4).reason == "second factor is not proved")
        #expect(try await begin(proved(), at: 4).reason == "second factor is not proved")
        let offer = try await begin(proved(["pwd", "swk", "mfa"]), at: 4).get()
        try await confirm(offer, nil, proved(["pwd", "swk", "mfa"]), at: 5).get()
        #expect(try await enrollments().filter { $0.status == .active }.count == 2)
    }

    @Test("Enrolling or removing an authenticator app is rejected if any factor of the sign-in was proved more than 15 minutes ago")
    func rememberedFactor() async throws {
        let time = TestOrganization.time(2_000)
        func both(since seconds: TimeInterval) -> AuthenticationContext {
            AuthenticationContext(
                userID: jane, time: time, earliestTime: TestOrganization.time(seconds), methods: ["pwd", "swk", "mfa"])
        }
        #expect(try await begin(both(since: 1_099), at: 2_000).reason == "factor: sign-in is too old")
        let offer = try await begin(both(since: 1_100), at: 2_000).get()
        try await confirm(offer, nil, both(since: 1_100), at: 2_001).get()
        let deletion = try await organization.engine.deleteTOTPEnrollment(
            id: offer.id, both(since: 1_099), context: PushFixture.context(2_002))
        #expect(deletion.reason == "factor: sign-in is too old")
    }

    @Test("A new authenticator app replaces the earlier app only after the new app is confirmed")
    func replacement() async throws {
        let first = try await begin(proved()).get()
        try await confirm(first).get()
        let both = proved(["pwd", "otp", "mfa"], at: 50)
        let second = try await begin(both, at: 51).get()
        #expect(try await organization.engine.totpEnrollments(ofUser: jane).map(\.id) == [first.id])
        try await confirm(second, nil, both, at: 52).get()
        #expect(try await organization.engine.totpEnrollments(ofUser: jane).map(\.id) == [second.id])
        #expect(try await organization.log("user.mfa.factor.activate").map(\.reason) == ["totp", "totp, replaced"])
    }

    @Test("If two authenticator apps are confirmed concurrently, exactly one confirmation succeeds")
    func race() async throws {
        let offers = [try await begin(proved()).get(), try await begin(proved()).get()]
        let codes = try offers.map { try shown($0, at: 2) }
        let answers = try await withThrowingTaskGroup(of: Refusal.Code?.self) { group in
            for (offer, code) in zip(offers, codes) { group.addTask { try await confirm(offer, code).refused } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        // The later request has proved only one factor, and the earlier one has enrolled another.
        #expect(answers.filter { $0 == nil }.count == 1)
        #expect(try await enrollments().count == 1)
    }

    @Test("A user has at most five pending authenticator secrets, and a sixth secret replaces the oldest")
    func crowd() async throws {
        var offers: [TOTPEnrollmentOffer] = []
        for second in 1...6 { offers.append(try await begin(proved(), at: TimeInterval(second)).get()) }
        #expect(Set(try await enrollments().map(\.id)) == Set(offers.dropFirst().map(\.id)))
    }

    @Test("An authenticator app can be removed only after a recent sign-in with a second factor")
    func deletion() async throws {
        let offer = try await begin(proved()).get()
        try await confirm(offer).get()
        func delete(_ id: String, _ methods: [String], at seconds: TimeInterval = 10) async throws -> String? {
            try await organization.engine.deleteTOTPEnrollment(id: id, proved(methods), context: PushFixture.context(seconds)).reason
        }
        #expect(try await delete(offer.id, ["pwd"]) == "second factor is not proved")
        #expect(try await delete(offer.id, ["pwd", "otp", "mfa"], at: 901) == "factor: sign-in is too old")
        #expect(try await delete("enr-other", ["pwd", "otp", "mfa"]) == "totp: unknown enrollment")
        #expect(try await delete(offer.id, ["pwd", "otp", "mfa"]) == nil)
        #expect(try await enrollments().isEmpty)
        #expect(try await organization.log("user.mfa.factor.deactivate").count == 1)
        #expect(try await organization.signIn().refused == .accessDenied)
    }
}
