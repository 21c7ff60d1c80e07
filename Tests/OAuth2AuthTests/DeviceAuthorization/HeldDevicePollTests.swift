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

    @Test("Only device authorization polls ask the server to wait 25 seconds, and their timeout is 30 to 60 seconds")
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

    @Test("If the server holds a device authorization poll longer than the interval, the next poll follows immediately")
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
