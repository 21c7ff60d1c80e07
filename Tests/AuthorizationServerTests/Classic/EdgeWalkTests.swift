import Foundation
import IdentityCore
import JOSE
import NIOConcurrencyHelpers
import TestSupport
import Testing

/// Walks the table of Documentation/Protocol/Authn.md §3.4 over the wire.
@Suite("Classic state machine")
struct EdgeWalkTests {
    typealias Box = NIOLockedValueBox<ClassicCoverage>

    private static let totp = "token:software:totp"
    private static let enrollTOTP: [String: JSONValue] = ["factorType": "token:software:totp", "provider": "GOOGLE"]
    private static let new = "Another-Horse-8"
    private static let portal = [("Authorization", "SSWS a-token-of-the-portal-0123456789")]

    static func with(
        _ policy: ClassicPolicy, age: PasswordPolicy.Age = .init(), _ box: Box, headers: [(String, String)] = [],
        _ body: @Sendable (ClassicWalk, PushServer) async throws -> Void
    ) async throws {
        var organization = PushOrganization(classic: policy)
        organization.passwordPolicy.age = age
        try await PushServer.with(organization) { server in
            try await body(ClassicWalk(ClassicClient(server, headers: headers), box), server)
        }
    }

    @Test("HTTP requests reach every state transition, operation, factor type and error code of the classic API, and no others")
    func walk() async throws {
        let box = Box(ClassicCoverage())
        try await Self.passwords(box)
        try await Self.factors(box)
        try await Self.enrollments(box)
        try await Self.recoveries(box)
        try await RecoveryWalk.codes(box)
        try await RecoveryWalk.activation(box)
        try await PhoneWalk.walk(box)
        try await RefusalWalk.walk(box)
        try await Self.passkeys(box)
        let coverage = box.withLockedValue { $0 }
        Attachment.record(coverage.text, named: "classic-coverage.txt")
        let edges = ClassicTable.edges
        #expect(edges.subtracting(coverage.edges).isEmpty, "\(edges.subtracting(coverage.edges))")
        #expect(coverage.edges.subtracting(edges).isEmpty, "\(coverage.edges.subtracting(edges))")
        #expect(Set(coverage.operations.keys) == ClassicCoverage.operations)
        #expect(Set(coverage.factors.keys) == ClassicCoverage.factors)
        #expect(Set(coverage.codes.keys) == ClassicCoverage.codes)
        let shown = ClassicCoverage.operations.union(ClassicCoverage.factors).union(ClassicCoverage.codes)
        #expect(shown.isDisjoint(with: ClassicCoverage.absent.keys))
    }

    private static func passwords(_ box: Box) async throws {
        try await with(ClassicPolicy(signOnPolicy: "one factor"), age: .init(maximumDays: 90, warningDays: 5), box) { walk, server in
            try walk.step("password", try await walk.signIn(), to: "SUCCESS", links: [], embedded: ["user"])
            server.clock.advance(by: 86 * 86_400)
            let warned = try walk.step(
                "password", try await walk.signIn(warns: true), to: "PASSWORD_WARN",
                links: ["cancel", "next(changePassword)", "skip(skip)"],
                embedded: ["policy", "user"])
            try await walk.refused("any | not listed | E0000079, unchanged", try await walk.post("/previous"), "E0000079")
            try walk.step("skip", try await walk.follow(warned.links["skip"]), to: "SUCCESS", links: [], embedded: ["user"])
            let again = try walk.step(
                "password", try await walk.signIn(warns: true), to: "PASSWORD_WARN",
                links: ["cancel", "next(changePassword)", "skip(skip)"],
                embedded: ["policy", "user"])
            let change: [String: JSONValue] = ["oldPassword": .string(PushOrganization.janesPassword), "newPassword": .string(new)]
            try await walk.refused(
                "any | failed proof | refused, unchanged",
                try await walk.follow(again.next, ["oldPassword": "x", "newPassword": .string(new)]),
                "E0000014")
            try walk.step("change password", try await walk.follow(again.next, change), to: "SUCCESS", links: [], embedded: ["user"])
            server.clock.advance(by: 90 * 86_400)
            let expired = try walk.step(
                "password", try await walk.signIn(new), to: "PASSWORD_EXPIRED", links: ["cancel", "next(changePassword)"],
                embedded: ["policy", "user"])
            let back: [String: JSONValue] = ["oldPassword": .string(new), "newPassword": .string(PushOrganization.janesPassword)]
            try walk.step("change password", try await walk.follow(expired.next, back), to: "SUCCESS", links: [], embedded: ["user"])
        }
        try await with(
            ClassicPolicy(signOnPolicy: "one factor", factors: [.totp: .required]), age: .init(maximumDays: 90), box
        ) { walk, server in
            server.clock.advance(by: 90 * 86_400)
            let expired = try walk.step(
                "password", try await walk.signIn(), to: "PASSWORD_EXPIRED", links: ["cancel", "next(changePassword)"],
                embedded: ["policy", "user"])
            let change: [String: JSONValue] = ["oldPassword": .string(PushOrganization.janesPassword), "newPassword": .string(new)]
            try walk.step(
                "change password", try await walk.follow(expired.next, change), to: "MFA_ENROLL", links: ["cancel"],
                embedded: ["factors", "user"])
            try await walk.cancel()
        }
    }

    /// Walks the challenge of the factor type. The table has no rows of WebAuthn.
    private static func passkeys(_ box: Box) async throws {
        try await ClassicClient.withPasskeys { client, server in
            var authenticator = ClassicAuthenticator()
            try await authenticator.register(server)
            let walk = ClassicWalk(client, box)
            try walk.step(
                "password", try await walk.signIn(), to: "MFA_REQUIRED", links: ["cancel"], embedded: ["factors", "policy", "user"])
            let challenged = try walk.step(
                "verify without proof", try await walk.post("/factors/webauthn/verify"), to: "MFA_CHALLENGE",
                links: ["cancel", "next(verify)", "prev"], embedded: ["challenge", "factors", "policy", "user"])
            let signed = try authenticator.sign(challenged.embedded["challenge"])
            try walk.step(
                "verify with proof", try await walk.follow(challenged.next, signed), to: "SUCCESS", links: [], embedded: ["user"])
        }
    }

    private static func factors(_ box: Box) async throws {
        let required = ["factors", "policy", "user"]
        let challenge = ["factor", "policy", "user"]
        try await with(ClassicPolicy(signOnPolicy: "two factors"), age: .init(maximumDays: 90), box) { walk, server in
            let phone = try await server.enroll()
            let app = try await walk.client.app()
            func begin() async throws -> ClassicStatus {
                try walk.step("password", try await walk.signIn(), to: "MFA_REQUIRED", links: ["cancel"], embedded: required)
            }
            let first = try await begin()
            let byCode = try first.factor(totp)["_links"]?["verify"]
            let byPush = try first.factor("push")["_links"]?["verify"]
            try await walk.refused(
                "any | not listed | E0000079, unchanged", try await walk.post("/credentials/reset_password", ["newPassword": "x"]),
                "E0000079")
            try walk.step(
                "verify without proof", try await walk.follow(byCode), to: "MFA_CHALLENGE", links: ["cancel", "next(verify)", "prev"],
                embedded: challenge)
            try await walk.refused(
                "any | failed proof | refused, unchanged", try await walk.follow(byCode, ["passCode": .string(app.wrongCode)]), "E0000068")
            let waiting = ["cancel", "next(poll)", "prev", "resend(push)"]
            let push = try walk.step(
                "another factor", try await walk.follow(byPush), to: "MFA_CHALLENGE", links: waiting, embedded: challenge)
            try walk.step("poll", try await walk.follow(push.next), to: "MFA_CHALLENGE", links: waiting, embedded: challenge)
            try walk.step(
                "resend", try await walk.follow(push.links["resend"]?[0]), to: "MFA_CHALLENGE", links: waiting, embedded: challenge)
            try walk.step("previous", try await walk.follow(push.links["prev"]), to: "MFA_REQUIRED", links: ["cancel"], embedded: required)
            try walk.step(
                "verify without proof", try await walk.follow(byPush), to: "MFA_CHALLENGE", links: waiting, embedded: challenge)
            try await phone.approve()
            try walk.step("poll", try await walk.follow(push.next), to: "SUCCESS", links: [], embedded: ["user"])
            server.clock.advance(by: 400)
            _ = try await begin()
            try walk.step(
                "verify with proof", try await walk.follow(byCode, ["passCode": .string(app.code())]), to: "SUCCESS", links: [],
                embedded: ["user"])
            server.clock.advance(by: 60)
            _ = try await begin()
            try walk.step("verify without proof", try await walk.follow(byPush), to: "MFA_CHALLENGE", links: waiting, embedded: challenge)
            try walk.step(
                "another factor", try await walk.follow(byCode, ["passCode": .string(app.code())]), to: "SUCCESS", links: [],
                embedded: ["user"])
            server.clock.advance(by: 60)
            _ = try await begin()
            try walk.step(
                "verify without proof", try await walk.follow(byCode), to: "MFA_CHALLENGE", links: ["cancel", "next(verify)", "prev"],
                embedded: challenge)
            try walk.step(
                "verify with proof", try await walk.follow(byCode, ["passCode": .string(app.code())]), to: "SUCCESS", links: [],
                embedded: ["user"])
            server.clock.advance(by: 90 * 86_400)
            _ = try await begin()
            try walk.step(
                "verify with proof", try await walk.follow(byCode, ["passCode": .string(app.code())]), to: "PASSWORD_EXPIRED",
                links: ["cancel", "next(changePassword)"], embedded: ["policy", "user"])
            try await walk.cancel()
            _ = try await begin()
            for _ in 0..<4 {
                try await walk.refused(
                    "any | failed proof | refused, unchanged", try await walk.follow(byCode, ["passCode": .string(app.wrongCode)]),
                    "E0000068")
            }
            try await walk.refused(
                "any | too many failed proofs | E0000069", try await walk.follow(byCode, ["passCode": .string(app.wrongCode)]), "E0000069",
                causes: 0, isOver: true)
        }
    }

    private static func enrollments(_ box: Box) async throws {
        let all = ClassicPolicy(
            signOnPolicy: "one factor",
            factors: [.totp: .required, .question: .required, .sms: .optional, .call: .optional, .email: .optional])
        try await with(all, box) { walk, server in
            let choices = ["factors", "user"]
            let begun = try walk.step(
                "password", try await walk.signIn(enrollsAll: true), to: "MFA_ENROLL", links: ["cancel"], embedded: choices)
            let enroll = try begun.factor(totp)["_links"]?["enroll"]
            try await walk.refused("any | not listed | E0000079, unchanged", try await walk.post("/skip"), "E0000079")
            let question: [String: JSONValue] = [
                "factorType": "question", "provider": "OKTA", "profile": ["question": "first_award", "answer": "Swimming cup"],
            ]
            try walk.step(
                "enroll question", try await walk.follow(enroll, question), to: "MFA_ENROLL", links: ["cancel"], embedded: choices)
            let activating = try walk.step(
                "enroll totp", try await walk.follow(enroll, enrollTOTP), to: "MFA_ENROLL_ACTIVATE",
                links: ["cancel", "next(activate)", "prev"], embedded: ["factor", "user"])
            try walk.step(
                "previous", try await walk.follow(activating.links["prev"]), to: "MFA_ENROLL", links: ["cancel"], embedded: choices)
            let second = try walk.step(
                "enroll totp", try await walk.follow(enroll, enrollTOTP), to: "MFA_ENROLL_ACTIVATE",
                links: ["cancel", "next(activate)", "prev"], embedded: ["factor", "user"])
            let secret = try #require(second.embedded["factor"]?["_embedded"]?["activation"]?["sharedSecret"]?.stringValue)
            let app = ClassicApp(id: "", secret: try #require(Base32.decode(secret)), clock: server.clock)
            let offered = try walk.step(
                "activate", try await walk.follow(second.next, ["passCode": .string(app.code())]), to: "MFA_ENROLL",
                links: ["cancel", "skip(skip)"], embedded: choices)
            for (type, profile) in [("email", [:]), ("sms", ["phoneNumber": "+49 30 5550123"])] as [(String, JSONValue)] {
                let code: [String: JSONValue] = ["factorType": .string(type), "provider": "OKTA", "profile": profile]
                let waiting = try walk.step(
                    "enroll code", try await walk.follow(enroll, code), to: "MFA_ENROLL_ACTIVATE",
                    links: ["cancel", "next(activate)", "prev", "resend(\(type))"], embedded: ["factor", "user"])
                server.clock.advance(by: 31)
                try walk.step(
                    "resend", try await walk.follow(waiting.links["resend"]?[0]), to: "MFA_ENROLL_ACTIVATE",
                    links: ["cancel", "next(activate)", "prev", "resend(\(type))"], embedded: ["factor", "user"])
                try walk.step(
                    "previous", try await walk.follow(waiting.links["prev"]), to: "MFA_ENROLL", links: ["cancel", "skip(skip)"],
                    embedded: choices)
            }
            try walk.step("skip", try await walk.follow(offered.links["skip"]), to: "SUCCESS", links: [], embedded: ["user"])
        }
        try await with(ClassicPolicy(signOnPolicy: "two factors"), box) { walk, server in
            let begun = try walk.step(
                "password", try await walk.signIn(), to: "MFA_ENROLL", links: ["cancel"], embedded: ["factors", "user"])
            let activating = try walk.step(
                "enroll totp", try await walk.follow(begun.factor(totp)["_links"]?["enroll"], enrollTOTP), to: "MFA_ENROLL_ACTIVATE",
                links: ["cancel", "next(activate)", "prev"], embedded: ["factor", "user"])
            let secret = try #require(activating.embedded["factor"]?["_embedded"]?["activation"]?["sharedSecret"]?.stringValue)
            let app = ClassicApp(id: "", secret: try #require(Base32.decode(secret)), clock: server.clock)
            try walk.step(
                "activate", try await walk.follow(activating.next, ["passCode": .string(app.code())]), to: "SUCCESS", links: [],
                embedded: ["user"])
        }
        try await with(ClassicPolicy(signOnPolicy: "one factor", factors: [.question: .required]), box) { walk, server in
            let begun = try walk.step(
                "password", try await walk.signIn(), to: "MFA_ENROLL", links: ["cancel"], embedded: ["factors", "user"])
            let entry = try begun.factor("question")
            let list = try #require(entry["_links"]?["questions"]?["href"]?.stringValue)
            #expect(entry["_links"]?["questions"]?["hints"] == ["allow": ["GET"]])
            let questions = try await server.wire.get(String(list.dropFirst(RunningServer.origin.count))).json
            walk.note(\.operations, "GET /users/{id}/factors/questions", by: "MFA_ENROLL | questions")
            #expect(questions.arrayValue?.count == 20 && questions[0]?["question"] == "disliked_food")
            let question: [String: JSONValue] = [
                "factorType": "question", "provider": "OKTA", "profile": ["question": "first_award", "answer": "Swimming cup"],
            ]
            try walk.step(
                "enroll question", try await walk.follow(entry["_links"]?["enroll"], question), to: "SUCCESS", links: [], embedded: ["user"]
            )
        }
    }

    private static func recoveries(_ box: Box) async throws {
        let policy = ClassicPolicy(
            signOnPolicy: "two factors", showsLockout: true, recovery: [.sms, .email], unlocksBySelfService: true,
            trustedCallers: [.init(name: "portal", token: "a-token-of-the-portal-0123456789")])
        try await with(policy, box) { walk, server in
            let app = try await walk.client.app()
            let name: [String: JSONValue] = ["username": .string(PushOrganization.jane)]
            let begun = try walk.step(
                "recover by text or call",
                try await walk.post("/recovery/password", name.merging(["factorType": "sms", "relayState": "r"]) { $1 }),
                to: "RECOVERY_CHALLENGE", links: ["cancel", "next(verify)", "resend(sms)"], embedded: [])
            #expect(begun.json["factorType"] == "SMS" && begun.json["recoveryType"] == "PASSWORD" && begun.json["relayState"] == "r")
            try await walk.refused(
                "any | failed proof | refused, unchanged", try await walk.follow(begun.next, ["passCode": "123456"]), "E0000068")
            server.clock.advance(by: 31)
            try walk.step(
                "resend", try await walk.follow(begun.links["resend"]), to: "RECOVERY_CHALLENGE",
                links: ["cancel", "next(verify)", "resend(sms)"], embedded: [])
            let cancelled = try await walk.follow(begun.links["cancel"])
            #expect(try cancelled.json == ["relayState": "r"])
            _ = try await walk.signIn()
            let mailed = try ClassicWalk(walk.client, box).step(
                "recover by mail", try await walk.client.post("/recovery/password", .object(name.merging(["factorType": "EMAIL"]) { $1 })),
                to: "RECOVERY_CHALLENGE", links: [], embedded: [])
            #expect(
                mailed.json == [
                    "status": "RECOVERY_CHALLENGE", "factorResult": "WAITING", "factorType": "EMAIL", "recoveryType": "PASSWORD",
                ])

            let trusted = ClassicWalk(ClassicClient(server, headers: portal), box)
            let given = try trusted.step(
                "recover, trusted", try await trusted.post("/recovery/password", name), to: "RECOVERY",
                links: ["cancel", "next(recovery)"],
                embedded: ["user"])
            let token = try #require(given.json["recoveryToken"])
            let reset = try trusted.step(
                "recovery token", try await trusted.follow(given.next, ["recoveryToken": token]), to: "PASSWORD_RESET",
                links: ["cancel", "next(resetPassword)"], embedded: ["policy", "user"])
            let after = try trusted.step(
                "reset password", try await trusted.follow(reset.next, ["newPassword": .string(new)]), to: "MFA_REQUIRED",
                links: ["cancel"],
                embedded: ["factors", "policy", "user"])
            try trusted.step(
                "verify with proof", try await trusted.follow(after.factor(totp)["_links"]?["verify"], ["passCode": .string(app.code())]),
                to: "SUCCESS", links: [], embedded: ["user"])

            for _ in 0..<4 { _ = try await walk.signIn("wrong") }
            let locked = try walk.step(
                "password", try await walk.signIn("wrong"), to: "LOCKED_OUT", links: ["next(unlock)"], embedded: [])
            server.clock.advance(by: 31)
            try walk.step(
                "unlock", try await walk.follow(locked.next, name.merging(["factorType": "sms"]) { $1 }), to: "RECOVERY_CHALLENGE",
                links: ["cancel", "next(verify)", "resend(sms)"], embedded: [])
        }
        var easy = policy
        easy.signOnPolicy = "one factor"
        try await with(easy, box, headers: portal) { walk, server in
            let id = try #require(try await server.engine.user(login: PushOrganization.jane)?.id)
            _ = try #require(
                try await server.engine.grantQuestion(
                    "first_award", answer: "Swimming cup", userID: id, context: RequestContext(now: server.clock.now, requestID: "test")))
            let name: [String: JSONValue] = ["username": .string(PushOrganization.jane)]
            for isUnlock in [false, true] {
                if isUnlock { for _ in 0..<5 { _ = try await walk.signIn("wrong") } }
                let path = isUnlock ? "/recovery/unlock" : "/recovery/password"
                let given = try walk.step(
                    "recover, trusted", try await walk.post(path, name), to: "RECOVERY", links: ["cancel", "next(recovery)"],
                    embedded: ["user"])
                let asked = try walk.step(
                    "recovery token", try await walk.follow(given.next, ["recoveryToken": given.json["recoveryToken"] ?? .null]),
                    to: "RECOVERY", links: ["cancel", "next(answer)"], embedded: ["user"])
                #expect(asked.embedded["user"]?["recovery_question"]?["question"]?.stringValue?.isEmpty == false)
                try await walk.refused(
                    "any | failed proof | refused, unchanged", try await walk.follow(asked.next, ["answer": "Chess cup"]), "E0000087",
                    causes: 0)
                if isUnlock {
                    let done = try walk.step(
                        "answer", try await walk.follow(asked.next, ["answer": "swimming cup"]), to: "SUCCESS", links: [],
                        embedded: ["user"])
                    #expect(done.json["recoveryType"] == "UNLOCK" && done.json["sessionToken"] == nil)
                } else {
                    let reset = try walk.step(
                        "answer", try await walk.follow(asked.next, ["answer": "swimming cup"]), to: "PASSWORD_RESET",
                        links: ["cancel", "next(resetPassword)"], embedded: ["policy", "user"])
                    try walk.step(
                        "reset password", try await walk.follow(reset.next, ["newPassword": .string(new)]), to: "SUCCESS", links: [],
                        embedded: ["user"])
                }
            }
        }
    }
}
