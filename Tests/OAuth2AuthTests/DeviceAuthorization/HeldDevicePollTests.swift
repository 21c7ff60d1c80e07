import AuthFoundation
import Foundation
import TestSupport
import Testing

@testable import OAuth2Auth

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Device authorization with long polling", .timeLimit(.minutes(1)))
struct HeldDevicePollTests {
    private let issuer = ScriptedIssuer()

    private func flow() throws -> DeviceAuthorizationFlow {
        issuer.answer(
            "/device/authorize",
            .json(
                #"{"device_code":"d-1","user_code":"KDWQ-PLMT","verification_uri":"https://id.example.com/activate","expires_in":600,"interval":7}"#
            ))
        return DeviceAuthorizationFlow(client: try issuer.client())
    }

    @Test("Only polls ask the server to hold them for 25 seconds, and wait longer than that for the response")
    func header() async throws {
        let flow = try flow()
        issuer.answer("/v1/token", .refusal("authorization_pending"), .tokens())
        _ = try await flow.start()
        _ = try await flow.resume()
        let polls = issuer.requests("/v1/token")
        #expect(polls.map { $0.value(forHTTPHeaderField: "Prefer") } == ["wait=25", "wait=25"])
        #expect(polls.allSatisfy { (30...60).contains($0.timeoutInterval) })
        #expect(issuer.requests("/device/authorize").map { $0.value(forHTTPHeaderField: "Prefer") } == [nil])
    }

    @Test("The interval counts from sending: after a poll that was held for longer, the next one follows immediately")
    func interval() async throws {
        let flow = try flow()
        issuer.on("/v1/token") { [clock = issuer.clock] _, count in
            let holds: [TimeInterval] = [25, 3, 0]
            guard count < holds.count else { return .tokens() }
            clock.advance(by: holds[count])
            return .refusal("authorization_pending")
        }
        _ = try await flow.start()
        _ = try await flow.resume()
        #expect(issuer.clock.waits == [4, 7])
    }
}
