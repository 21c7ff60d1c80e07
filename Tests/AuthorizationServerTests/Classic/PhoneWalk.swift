import Foundation
import IdentityCore
import JOSE
import TestSupport
import Testing

/// The phone enrollment part of the walk of ``EdgeWalkTests``.
enum PhoneWalk {
    private static let push = ClassicPhone.push
    private static let shown = ["factor", "user"]

    static func walk(_ box: EdgeWalkTests.Box) async throws {
        try await ClassicPhone.with(ClassicPolicy(signOnPolicy: "two factors")) { client, server in
            let walk = ClassicWalk(client, box)
            let begun = try walk.step(
                "password", try await walk.signIn(), to: "MFA_ENROLL", links: ["cancel"], embedded: ["factors", "user"])
            let waiting = ["cancel", "next(poll)", "prev"]
            let enroll = try begun.factor("push")["_links"]?["enroll"]
            let first = try walk.step(
                "enroll push", try await walk.follow(enroll, push), to: "MFA_ENROLL_ACTIVATE", links: waiting, embedded: shown)
            try walk.step(
                "previous", try await walk.follow(first.links["prev"]), to: "MFA_ENROLL", links: ["cancel"], embedded: ["factors", "user"])
            let status = try walk.step(
                "enroll push", try await walk.follow(enroll, push), to: "MFA_ENROLL_ACTIVATE", links: waiting, embedded: shown)
            #expect(status.json["factorResult"] == "WAITING")
            let factor = try #require(status.embedded["factor"])
            #expect(factor["provider"] == "OKTA" && factor["vendorName"] == "OKTA")
            let picture = try #require(ClassicPhone.activation(status)?["_links"]?["qrcode"]?["href"]?.stringValue)
            #expect(try await server.wire.bytes("GET", String(picture.dropFirst(RunningServer.origin.count)), headers: []).isEmpty == false)
            walk.note(\.operations, "GET /users/{id}/factors/{id}/qr/{token}", by: "MFA_ENROLL_ACTIVATE | picture")
            try walk.step("poll", try await walk.follow(status.next), to: "MFA_ENROLL_ACTIVATE", links: waiting, embedded: shown)
            try await walk.refused(
                "any | not listed | E0000079, unchanged", try await walk.post("/factors/\(factor["id"]?.stringValue ?? "")/verify"),
                "E0000079")
            for _ in 0..<3 {
                server.clock.advance(by: 200)
                _ = try await walk.follow(status.next)
            }
            let late = try walk.step(
                "poll", try await walk.follow(status.next), to: "MFA_ENROLL_ACTIVATE", links: ["cancel", "next(activate)", "prev"],
                embedded: shown)
            #expect(late.json["factorResult"] == "TIMEOUT")
            let again = try walk.step(
                "activate", try await walk.follow(late.next), to: "MFA_ENROLL_ACTIVATE", links: waiting, embedded: shown)
            #expect(again.embedded["factor"]?["id"] == factor["id"])
            let send = try #require(again.embedded["factor"]?["_embedded"]?["activation"]?["_links"]?["send"]?.arrayValue)
            #expect(send.map { $0["name"] } == ["email", "sms"])
            try walk.step(
                "send link", try await walk.follow(send[0]), to: "MFA_ENROLL_ACTIVATE", links: waiting, embedded: shown)
            _ = try await ClassicPhone.ticket(server)
            try walk.step(
                "send link", try await walk.follow(send[1], ["profile": ["phoneNumber": "+49 30 5550123"]]), to: "MFA_ENROLL_ACTIVATE",
                links: waiting, embedded: shown)
            let phone = try await ClassicPhone.enroll(server, by: try await ClassicPhone.ticket(server))
            #expect(JSONValue.string(phone.methodID) == factor["id"])
            try walk.step("poll", try await walk.follow(again.next), to: "SUCCESS", links: [], embedded: ["user"])
            let required = try walk.step(
                "password", try await walk.signIn(), to: "MFA_REQUIRED", links: ["cancel"], embedded: ["factors", "policy", "user"])
            #expect(try required.factor("push")["id"] == factor["id"])
            try await walk.cancel()
        }
        try await ClassicPhone.with(ClassicPolicy(signOnPolicy: "one factor", factors: [.push: .required, .question: .required])) {
            client, server in
            let walk = ClassicWalk(client, box)
            let begun = try walk.step(
                "password", try await walk.signIn(), to: "MFA_ENROLL", links: ["cancel"], embedded: ["factors", "user"])
            let status = try walk.step(
                "enroll push", try await walk.follow(begun.factor("push")["_links"]?["enroll"], push), to: "MFA_ENROLL_ACTIVATE",
                links: ["cancel", "next(poll)", "prev"], embedded: shown)
            let send = status.embedded["factor"]?["_embedded"]?["activation"]?["_links"]?["send"]
            _ = try await walk.follow(send?[0])
            _ = try await ClassicPhone.enroll(server, by: try await ClassicPhone.ticket(server))
            let next = try walk.step(
                "poll", try await walk.follow(status.next), to: "MFA_ENROLL", links: ["cancel"], embedded: ["factors", "user"])
            #expect(try next.factor("push")["status"] == "ACTIVE" && next.factor("question")["status"] == "NOT_SETUP")
        }
    }
}
