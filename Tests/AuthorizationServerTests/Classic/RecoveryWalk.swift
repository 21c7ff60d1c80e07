import AuthnAPI
import Foundation
import IdentityCore
import JOSE
import TestSupport
import Testing

/// The recovery and activation part of the walk of ``EdgeWalkTests``.
enum RecoveryWalk {
    private static let challenge = ["cancel", "next(verify)"]
    private static let reset = ["cancel", "next(resetPassword)"]
    private static let policy = ClassicPolicy(
        signOnPolicy: "one factor", showsLockout: true, recovery: Set(CodeChannel.allCases), unlocksBySelfService: true)

    /// Walks recovery by text message, call and email, with and without a security question, and unlocking.
    static func codes(_ box: EdgeWalkTests.Box) async throws {
        try await EdgeWalkTests.with(policy, box) { walk, server in
            let id = try #require(try await server.engine.user(login: PushOrganization.jane)?.id)
            let number = try #require(PhoneNumber("+49 30 5550123"))
            func context() -> RequestContext { RequestContext(now: server.clock.now, requestID: "test") }
            _ = try #require(
                try await server.engine.grantCodeFactor(.sms, to: CodeDestination(number), userID: id, context: context()))
            func begin(_ way: String, isUnlock: Bool = false) async throws -> ClassicStatus {
                server.clock.advance(by: 61)
                let body: [String: JSONValue] = ["username": .string(PushOrganization.jane), "factorType": .string(way)]
                return try walk.step(
                    isUnlock ? "unlock" : "recover by text or call",
                    try await walk.post(isUnlock ? "/recovery/unlock" : "/recovery/password", body), to: "RECOVERY_CHALLENGE",
                    links: challenge + ["resend(\(way))"], embedded: [])
            }
            for (way, password) in [("sms", "Another-Horse-8"), ("call", "A-Third-Horse-9")] {
                let begun = try await begin(way)
                _ = try await server.messages.code()
                server.clock.advance(by: 61)
                try walk.step(
                    "resend", try await walk.follow(begun.links["resend"]), to: "RECOVERY_CHALLENGE",
                    links: challenge + ["resend(\(way))"], embedded: [])
                let code = try await server.messages.code()
                try await walk.refused(
                    "any | failed proof | refused, unchanged",
                    try await walk.follow(begun.next, ["passCode": .string(code == "000000" ? "000001" : "000000")]), "E0000068")
                let reset = try walk.step(
                    "verify", try await walk.follow(begun.next, ["passCode": .string(code)]), to: "PASSWORD_RESET", links: reset,
                    embedded: ["policy", "user"])
                #expect(reset.json["recoveryType"] == "PASSWORD")
                try await walk.refused(
                    "any | failed proof | refused, unchanged", try await walk.follow(reset.next, ["newPassword": "horse"]), "E0000080")
                try walk.step(
                    "reset password", try await walk.follow(reset.next, ["newPassword": .string(password)]), to: "SUCCESS", links: [],
                    embedded: ["user"])
                _ = try walk.step("password", try await walk.signIn(password), to: "SUCCESS", links: [], embedded: ["user"])
            }
            _ = try await walk.post(
                "/recovery/password", ["username": .string(PushOrganization.jane), "factorType": "EMAIL"])
            let mailed: [String: JSONValue] = ["recoveryToken": .string(try await server.messages.linkToken())]
            try walk.step(
                "recovery token", try await walk.post("/recovery/token", mailed), to: "PASSWORD_RESET", links: reset,
                embedded: ["policy", "user"])
            try await walk.cancel()

            for _ in 0..<5 { _ = try await walk.signIn("wrong") }
            try walk.step("password", try await walk.signIn("wrong"), to: "LOCKED_OUT", links: ["next(unlock)"], embedded: [])
            let unlocking = try await begin("sms", isUnlock: true)
            let unlocked = try walk.step(
                "verify", try await walk.follow(unlocking.next, ["passCode": .string(try await server.messages.code())]), to: "SUCCESS",
                links: [], embedded: ["user"])
            #expect(unlocked.json["recoveryType"] == "UNLOCK" && unlocked.json["sessionToken"] == nil)

            _ = try #require(
                try await server.engine.grantQuestion("first_award", answer: "Swimming cup", userID: id, context: context()))
            let asking = try await begin("call")
            let asked = try walk.step(
                "verify", try await walk.follow(asking.next, ["passCode": .string(try await server.messages.code())]), to: "RECOVERY",
                links: ["cancel", "next(answer)"], embedded: ["user"])
            try walk.step(
                "answer", try await walk.follow(asked.next, ["answer": "Swimming Cup"]), to: "PASSWORD_RESET", links: reset,
                embedded: ["policy", "user"])
            try await walk.cancel()
        }
    }

    /// Walks the activation of an account without a password and of an account with one.
    static func activation(_ box: EdgeWalkTests.Box) async throws {
        try await EdgeWalkTests.with(ClassicPolicy(signOnPolicy: "one factor"), box) { walk, server in
            func token(_ login: String) async throws -> [String: JSONValue] {
                let id = try #require(try await server.engine.user(login: login)?.id)
                let context = RequestContext(now: server.clock.now, requestID: "test")
                return ["token": .string(try #require(try await server.engine.activationToken(forUser: id, context: context)))]
            }
            try await walk.refused(nil, try await walk.post("", ["token": "at_unknown"]), "E0000004", status: 401, causes: 0)
            let first = try await token(PushOrganization.newcomer)
            let reset = try walk.step(
                "activation token", try await walk.post("", first.merging(["relayState": "r"]) { $1 }), to: "PASSWORD_RESET", links: reset,
                embedded: ["policy", "user"])
            #expect(reset.json["recoveryType"] == "ACCOUNT_ACTIVATION" && reset.json["relayState"] == "r")
            try await walk.refused(
                "any | failed proof | refused, unchanged", try await walk.follow(reset.next, ["newPassword": "horse"]), "E0000080")
            let done = try walk.step(
                "reset password", try await walk.follow(reset.next, ["newPassword": "First-Horse-1"]), to: "SUCCESS", links: [],
                embedded: ["user"])
            #expect(done.json["sessionToken"] != nil)
            #expect(try ClassicStatus(try await walk.client.signIn(PushOrganization.newcomer, "First-Horse-1")).name == "SUCCESS")
            try await walk.refused(nil, try await walk.post("", first), "E0000004", status: 401, causes: 0)

            let jane = try #require(try await server.engine.user(login: PushOrganization.jane)?.id)
            _ = try await server.engine.setStatus(
                userID: jane, to: .staged, context: RequestContext(now: server.clock.now, requestID: "test"))
            try await walk.refused(nil, try await walk.signIn(), "E0000004", status: 401, causes: 0)
            try walk.step(
                "activation token", try await walk.post("", try await token(PushOrganization.jane)), to: "SUCCESS", links: [],
                embedded: ["user"])
            try walk.step("password", try await walk.signIn(), to: "SUCCESS", links: [], embedded: ["user"])
        }
    }
}
