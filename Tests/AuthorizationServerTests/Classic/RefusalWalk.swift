import Foundation
import IdentityCore
import JOSE
import TestSupport
import Testing

/// The error codes and the factor types that the other walks do not cover; a part of the walk of ``EdgeWalkTests``.
enum RefusalWalk {
    private static let enroll = "MFA_ENROLL"
    private static let activating = ["cancel", "next(activate)", "prev"]
    private static let choices = ["factors", "user"]

    static func walk(_ box: EdgeWalkTests.Box) async throws {
        try await requests(box)
        try await callers(box)
        try await messages(box)
        try await tokens(box)
        try await counters(box)
        try await lateCodes(box)
    }

    /// Walks malformed requests, unknown paths and factors, and too many wrong activation codes.
    private static func requests(_ box: EdgeWalkTests.Box) async throws {
        try await EdgeWalkTests.with(ClassicPolicy(signOnPolicy: "two factors"), box) { walk, server in
            let headers = [("Accept", "application/json"), ("Content-Type", "application/json")]
            try await walk.refused(
                nil, try await server.wire.call("POST", "/api/v1/authn", headers: headers, body: Array("{".utf8)), "E0000003", status: 400,
                causes: 0)
            try await walk.refused(nil, try await walk.post(""), "E0000001", status: 400)
            try await walk.refused(nil, try await walk.client.post("/nothing", [:]), "E0000008", status: 404, causes: 0)
            let method = try await server.wire.get("/api/v1/authn")
            #expect(method.status == 405)
            #expect(try method.json["errorCode"] == "E0000022")
            walk.note(\.codes, "E0000022", by: "GET /")
            let begun = try walk.step("password", try await walk.signIn(), to: enroll, links: ["cancel"], embedded: choices)
            let link = try begun.factor("token:software:totp")["_links"]?["enroll"]
            let key: [String: JSONValue] = ["factorType": "u2f", "provider": "FIDO"]
            try await walk.refused(nil, try await walk.follow(link, key), "E0000015", status: 401, causes: 0)
            let app: [String: JSONValue] = ["factorType": "token:software:totp", "provider": "GOOGLE"]
            let status = try walk.step(
                "enroll totp", try await walk.follow(link, app), to: "MFA_ENROLL_ACTIVATE", links: activating, embedded: ["factor", "user"])
            try await walk.refused(nil, try await walk.follow(status.next), "E0000028", status: 400)
            try await walk.refused(
                nil, try await walk.post("/factors/enr00000000000000000/lifecycle/activate", ["passCode": "123456"]), "E0000007",
                status: 404,
                causes: 0)
            for _ in 0..<5 {
                try await walk.refused(
                    "any | failed proof | refused, unchanged", try await walk.follow(status.next, ["passCode": "x"]), "E0000068")
            }
            try await walk.refused(nil, try await walk.follow(status.next, ["passCode": "x"]), "E0000047", status: 429, causes: 0)
        }
    }

    /// Walks the recovery errors that only trusted callers see.
    private static func callers(_ box: EdgeWalkTests.Box) async throws {
        let policy = ClassicPolicy(
            signOnPolicy: "one factor", trustedCallers: [.init(name: "portal", token: "a-token-of-the-portal-0123456789")])
        let portal = [("Authorization", "SSWS a-token-of-the-portal-0123456789")]
        try await EdgeWalkTests.with(policy, box, headers: portal) { walk, _ in
            func recover(_ way: String, _ login: String) async throws -> WireResponse {
                try await walk.post("/recovery/\(way)", ["username": .string(login)])
            }
            try await walk.refused(nil, try await recover("password", "unknown@example.com"), "E0000095", causes: 0)
            try await walk.refused(nil, try await recover("password", "suspended@example.com"), "E0000034", causes: 0)
            try await walk.refused(nil, try await recover("unlock", PushOrganization.jane), "E0000032", causes: 0)
        }
    }

    /// Walks the enrollment of phone numbers and of an email address.
    private static func messages(_ box: EdgeWalkTests.Box) async throws {
        let policy = ClassicPolicy(
            signOnPolicy: "two factors", factors: [.sms: .optional, .call: .optional, .email: .optional])
        var organization = PushOrganization(classic: policy)
        organization.callingCodes = ["49"]
        try await PushServer.with(organization) { server in
            let walk = ClassicWalk(ClassicClient(server), box)
            let begun = try walk.step("password", try await walk.signIn(), to: enroll, links: ["cancel"], embedded: choices)
            let link = try begun.factor("sms")["_links"]?["enroll"]
            func send(_ type: String, _ profile: JSONValue) async throws -> WireResponse {
                try await walk.follow(link, ["factorType": .string(type), "provider": "OKTA", "profile": profile])
            }
            try await walk.refused(nil, try await send("sms", ["phoneNumber": "12"]), "E0000098", status: 400)
            try await walk.refused(nil, try await send("sms", ["phoneNumber": "+1 555 555 0123"]), "E0000099")
            try await walk.refused(
                nil, try await send("call", ["phoneNumber": "+49 30 5550123", "phoneExtension": "x"]), "E0000121", status: 400)
            for (type, code) in [("email", "E0000118"), ("sms", "E0000109"), ("call", "E0000133")] {
                let status = try walk.step(
                    "enroll code", try await send(type, ["phoneNumber": "+49 30 5550123"]), to: "MFA_ENROLL_ACTIVATE",
                    links: activating + ["resend(\(type))"], embedded: ["factor", "user"])
                try await walk.refused(
                    nil, try await walk.follow(status.links["resend"]?[0]), code, status: 429, causes: 0)
                let sent = try await server.messages.code()
                guard type == "call" else {
                    try walk.step(
                        "previous", try await walk.follow(status.links["prev"]), to: enroll, links: ["cancel"], embedded: choices)
                    continue
                }
                try walk.step(
                    "activate", try await walk.follow(status.next, ["passCode": .string(sent)]), to: "SUCCESS", links: [],
                    embedded: ["user"])
            }
        }
    }

    /// Walks the enrollment of tokens of an external token service.
    private static func tokens(_ box: EdgeWalkTests.Box) async throws {
        let policy = ClassicPolicy(
            signOnPolicy: "two factors", factors: [.rsa: .optional, .symantec: .optional, .oktaTOTP: .optional])
        for service in [nil, ScriptedTokens()] {
            var organization = PushOrganization(classic: policy)
            organization.tokenService = service
            try await PushServer.with(organization) { server in
                let walk = ClassicWalk(ClassicClient(server), box)
                let begun = try walk.step("password", try await walk.signIn(), to: enroll, links: ["cancel"], embedded: choices)
                let link = try begun.factor("token")["_links"]?["enroll"]
                func show(_ code: String) async throws -> WireResponse {
                    try await walk.follow(
                        link,
                        ["factorType": "token", "provider": "RSA", "passCode": .string(code), "profile": ["credentialId": "known"]])
                }
                guard service != nil else {
                    return try await walk.refused(nil, try await show("123456"), "E0000074", status: 400)
                }
                try await walk.refused(nil, try await show("000000"), "E0000113", status: 409)
                try await walk.refused(nil, try await show("999999"), "E0000067", status: 504, causes: 0)
                try await walk.refused("any | failed proof | refused, unchanged", try await show("555555"), "E0000068")
                try walk.step("enroll token", try await show("123456"), to: "SUCCESS", links: [], embedded: ["user"])
            }
        }
    }

    /// Walks the rejection of an expired authenticator app code.
    private static func lateCodes(_ box: EdgeWalkTests.Box) async throws {
        try await EdgeWalkTests.with(ClassicPolicy(signOnPolicy: "two factors"), box) { walk, _ in
            let app = try await walk.client.app()
            let status = try walk.step(
                "password", try await walk.signIn(), to: "MFA_REQUIRED", links: ["cancel"], embedded: ["factors", "policy", "user"])
            let link = try status.factor("token:software:totp")["_links"]?["verify"]
            try await walk.refused(
                "any | failed proof | refused, unchanged", try await walk.follow(link, ["passCode": .string(app.code(after: -5))]),
                "E0000083")
        }
    }

    /// Walks the verification of a hardware device with counter-based codes.
    private static func counters(_ box: EdgeWalkTests.Box) async throws {
        try await EdgeWalkTests.with(ClassicPolicy(signOnPolicy: "two factors"), box) { walk, server in
            let secret = Array("12345678901234567890".utf8)
            let id = try #require(try await server.engine.user(login: PushOrganization.jane)?.id)
            _ = try #require(
                try await server.engine.assignHardwareDevice(
                    secret: secret, credentialID: "4711", userID: id, context: RequestContext(now: server.clock.now, requestID: "test")))
            for (code, refusal) in [(0 as Int64, nil), (0, "E0000082"), (50, "E0000068")] as [(Int64, String?)] {
                let status = try walk.step(
                    "password", try await walk.signIn(), to: "MFA_REQUIRED", links: ["cancel"], embedded: ["factors", "policy", "user"])
                let typed: [String: JSONValue] = ["passCode": .string(TimeBasedCode.code(secret: secret, step: code))]
                let answer = try await walk.follow(try status.factor("token:hotp")["_links"]?["verify"], typed)
                if let refusal {
                    try await walk.refused("any | failed proof | refused, unchanged", answer, refusal)
                } else {
                    try walk.step("verify with proof", answer, to: "SUCCESS", links: [], embedded: ["user"])
                }
            }
        }
    }
}
