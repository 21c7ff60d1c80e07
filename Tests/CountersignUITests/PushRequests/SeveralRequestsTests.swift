import AuthFoundation
import CountersignSandbox
import DeviceAuthenticator
import Foundation
import JOSE
import TestSupport
import Testing

@testable import CountersignUI

@Suite("Several requests in an authenticator app")
@MainActor
struct SeveralRequestsTests {
    @Test("Two requests are listed, and the user can approve only the one that the user has selected")
    func selected() async throws {
        try await PhoneVisit.play { visit in
            _ = (try await visit.push(), try await visit.push())
            try await visit.arrival(of: 2)
            let (first, second) = (visit.model.requests[0].id, visit.model.requests[1].id)
            #expect(visit.model.current == nil && !visit.model.canApprove)
            visit.letUserRead()
            await visit.model.approve(first)
            #expect(visit.model.requests.count == 2 && visit.model.outcome == nil && visit.model.problem == nil)
            visit.model.select(second)
            #expect(visit.model.current?.id == second)
            visit.model.select(nil)
            #expect(visit.model.current == nil)
            visit.model.select(second)
            visit.letUserRead()
            await visit.model.approve(first)
            #expect(visit.model.requests.count == 2)
            await visit.model.approve(second)
            #expect(visit.model.outcome == .approved && visit.model.requests.map(\.id) == [first])
        }
    }

    @Test("After an answer, the result is visible, and the next request is shown only if the user selects it")
    func notByItself() async throws {
        try await PhoneVisit.play { visit in
            _ = (try await visit.push(), try await visit.push())
            try await visit.arrival(of: 2)
            let (first, second) = (visit.model.requests[0].id, visit.model.requests[1].id)
            visit.model.select(first)
            visit.letUserRead()
            await visit.model.approve(first)
            #expect(visit.model.requests.map(\.id) == [second] && visit.model.current == nil && visit.model.outcome == .approved)
            visit.letUserRead()
            // The second tap of a user who takes the first one for lost.
            await visit.model.approve(second)
            await visit.model.fetch()
            #expect(visit.model.requests.map(\.id) == [second] && visit.model.current == nil && visit.model.outcome == .approved)
            visit.model.select(second)
            #expect(visit.model.current?.id == second && visit.model.outcome == .approved)
            await visit.model.deny(second)
            #expect(visit.model.outcome == .denied && visit.model.requests.isEmpty)
        }
    }

    @Test("A request that arrives just after an answer is listed with the result, and is shown by itself only a minute later")
    func justAfter() async throws {
        try await PhoneVisit.play { visit in
            _ = try await visit.push()
            await visit.model.approve(try await visit.request().id)
            let second = try await visit.push()
            try await visit.arrival(of: 1)
            #expect(visit.model.current == nil && visit.model.outcome == .approved)
            visit.model.select(visit.model.requests.first?.id)
            #expect(visit.model.current != nil)
            await visit.withdraw(second)
            try await visit.arrival(of: 0)
            visit.sandbox.advance(by: PushRequestModel.pause)
            _ = try await visit.push()
            try await visit.arrival(of: 1)
            #expect(visit.model.current != nil && visit.model.outcome == nil)
        }
    }

    @Test("If a second request arrives, the list takes the place of the first one, and none is shown when the first one is withdrawn")
    func secondArrives() async throws {
        try await PhoneVisit.play { visit in
            let first = try await visit.push()
            let id = try await visit.request().id
            _ = try await visit.push()
            try await visit.arrival(of: 2)
            #expect(visit.model.current == nil)
            await visit.model.approve(id)
            #expect(visit.model.requests.count == 2, "A tap that comes too late approves nothing.")
            await visit.withdraw(first)
            try await visit.arrival(of: 1)
            #expect(visit.model.current == nil && visit.model.requests.first?.id != id)
        }
    }

    @Test("A request that the user has selected stays visible when another one arrives")
    func selectedStays() async throws {
        try await PhoneVisit.play { visit in
            _ = try await visit.push()
            let request = try await visit.request()
            visit.model.select(request.id)
            _ = try await visit.push()
            try await visit.arrival(of: 2)
            #expect(visit.model.current?.id == request.id)
            await visit.model.approve(request.id)
            #expect(visit.model.outcome == .approved && visit.model.current == nil)
        }
    }

    @Test("A request cannot be approved in the first second after it appears, but it can be denied")
    func tooFast() async throws {
        try await PhoneVisit.play { visit in
            _ = try await visit.push()
            try await visit.arrival(of: 1)
            let id = try #require(visit.model.current?.id)
            visit.sandbox.advance(by: 0.9)
            await visit.model.approve(id)
            #expect(!visit.model.canApprove && visit.model.requests.count == 1 && visit.model.outcome == nil)
            #expect(
                await eventually {
                    visit.sandbox.advance(by: 0.1)
                    return visit.model.canApprove
                })
            await visit.model.deny(id)
            #expect(visit.model.outcome == .denied && !visit.model.canApprove)
            _ = try await visit.push()
            try await visit.arrival(of: 1)
            await visit.model.deny(try #require(visit.model.requests.first?.id))
            #expect(visit.model.outcome == .denied && visit.model.requests.isEmpty)
        }
    }

    @Test(
        "A notification's action that the user taps while another answer is being sent is sent after it",
        arguments: ["APPROVE_BUTTON", "DENY_BUTTON"])
    func actionDuringAnswer(action: String) async throws {
        let token = Data([1, 2, 3, 4])
        try await PhoneVisit.play(pushToken: token) { visit in
            let pushes = visit.pushes(to: token)
            _ = try await visit.push()
            let first = try await visit.request().id
            _ = try await pushes.userInfo()
            let signIn = try await visit.signInElsewhere()
            let userInfo = try await pushes.userInfo()
            let answer = visit.hold("/verify")
            let approval = Task { await visit.model.approve(first) }
            await answer.arrived.wait()
            #expect(visit.model.answering == first)
            let tap = Task { await visit.model.receive(userInfo, action: action) }
            #expect(await eventually { visit.model.selected != nil })
            answer.release.open()
            await approval.value
            #expect(await tap.value)
            #expect(visit.model.requests.isEmpty && visit.model.problem == nil && visit.model.answering == nil)
            #expect(visit.model.outcome == (action == "APPROVE_BUTTON" ? .approved : .denied))
            #expect(await visit.end(signIn).isSignedIn == (action == "APPROVE_BUTTON"))
        }
    }

    @Test("A second denial of a request while the first one is being sent keeps the result of the first one")
    func deniedTwice() async throws {
        try await PhoneVisit.play { visit in
            _ = try await visit.push()
            let id = try await visit.request().id
            let answer = visit.hold("/verify")
            let first = Task { await visit.model.deny(id, isSuspicious: true) }
            await answer.arrived.wait()
            let second = Task { await visit.model.deny(id) }
            answer.release.open()
            await first.value
            await second.value
            #expect(visit.model.outcome == .reported && visit.model.problem == nil && visit.model.requests.isEmpty)
            #expect(visit.sandbox.requests.count { $0.endpoint == "verify" } == 1)
        }
    }

    @Test("Two organizations can give their requests the same id: the app shows both, each with its account")
    func sameID() async throws {
        try await PhoneVisit.play { visit in
            try await visit.enroll(.john)
            let john = try #require(visit.device.allEnrollments().first { $0.user.name == SandboxUser.john.login }?.enrollmentId)
            visit.loseKeys()
            _ = try await visit.push()
            let ofJane = Locked(Data())
            visit.wire.change { path, data in
                guard path.hasSuffix("/push/notifications") else { return data }
                // The organization of the first account answers first.
                if data.count > 2 { ofJane.exchange(data) }
                return data.count > 2 ? data : try Self.forged(ofJane.withLock { $0 }, for: john)
            }
            try await visit.arrival(of: 2)
            let requests = visit.model.requests
            #expect(Set(requests.map(\.id.transactionID)).count == 1 && Set(requests.map(\.id)).count == 2)
            #expect(Set(requests.map(\.userName)) == [SandboxUser.jane.login, SandboxUser.john.login])
            #expect(requests.allSatisfy { $0.organization == visit.sandbox.origin.host() })
        }
    }

    /// Returns the pending challenges of another enrollment with the same ids, whose signatures are invalid.
    nonisolated private static func forged(_ pending: Data, for enrollment: String) throws -> Data {
        let list = try #require(try JSONSerialization.jsonObject(with: pending) as? [[String: Any]])
        let forged = try list.map { element in
            try element.mapValues { value -> Any in
                guard let token = value as? String, token.hasPrefix("ey") else { return value }
                var parts = token.split(separator: ".").map(String.init)
                var claims = try #require(
                    try JSONSerialization.jsonObject(with: Data(Base64URL.decode(parts[1]))) as? [String: Any])
                claims["authenticatorEnrollmentId"] = enrollment
                claims["userId"] = nil
                claims["methodEnrollmentId"] = nil
                parts[1] = Base64URL.encode(try JSONSerialization.data(withJSONObject: claims))
                return parts.joined(separator: ".")
            }
        }
        return try JSONSerialization.data(withJSONObject: forged)
    }
}
