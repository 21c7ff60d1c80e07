import Delivery
import Foundation
import JOSE
import Testing

@testable import CountersignSandbox

/// Tests the rules of the gateway that every request of the sender follows.
@Suite("Rules of the local push gateway")
struct PushGatewayRulesTests {
    static let good = PushGatewayRequest(
        environment: .production, connection: 1, stream: 1, method: "POST", path: "/3/device/aa11",
        headers: [
            ("authorization", "bearer x"), ("apns-topic", "com.example.app"), ("apns-push-type", "alert"), ("apns-priority", "10"),
            ("apns-expiration", "1800000300"), ("apns-id", "9cdd09c3-7a2e-4a8e-9a43-6a44a2a1c9a1"),
        ], body: Array("{}".utf8))

    static func refusal(_ change: (inout PushGatewayRequest) -> Void) -> String? {
        var request = good
        change(&request)
        let rules = PushRequestRules(request: request)
        return (rules.refusalOfAddress() ?? rules.refusal(allowing: ["com.example.app"])).map { "\($0.status) \($0.reason ?? "")" }
    }

    static func refusal(header name: String, _ value: String?) -> String? {
        refusal { request in
            request.headers.removeAll { $0.name == name }
            if let value { request.headers.append((name, value)) }
        }
    }

    @Test("The local push gateway accepts a valid push request")
    func good() {
        #expect(Self.refusal { _ in } == nil)
    }

    @Test("The local push gateway rejects a request with a wrong path, method or device token")
    func address() {
        #expect(Self.refusal { $0.path = "/" } == "404 BadPath")
        #expect(Self.refusal { $0.path = "/4/device/aa11" } == "404 BadPath")
        #expect(Self.refusal { $0.path = "/3/devices/aa11" } == "404 BadPath")
        #expect(Self.refusal { $0.method = "GET" } == "405 MethodNotAllowed")
        #expect(Self.refusal { $0.path = "/3/device/" } == "400 MissingDeviceToken")
        #expect(Self.refusal { $0.path = "/3/device" } == "400 MissingDeviceToken")
        #expect(Self.refusal { $0.path = "/3/device/AA11" } == "400 BadDeviceToken")
        #expect(Self.refusal { $0.path = "/3/device/aa1" } == "400 BadDeviceToken")
        #expect(Self.refusal { $0.path = "/3/device/aa11/" } == "400 BadDeviceToken")
    }

    @Test("The local push gateway rejects a push request with a missing, repeated or invalid header")
    func headers() {
        #expect(Self.refusal { $0.headers.append(("apns-topic", "com.example.app")) } == "400 DuplicateHeaders")
        #expect(Self.refusal(header: "apns-topic", nil) == "400 MissingTopic")
        #expect(Self.refusal(header: "apns-topic", "com.example app") == "400 BadTopic")
        #expect(Self.refusal(header: "apns-topic", "com.example.other") == "400 TopicDisallowed")
        #expect(Self.refusal(header: "apns-push-type", nil) == "400 InvalidPushType")
        #expect(Self.refusal(header: "apns-push-type", "loud") == "400 InvalidPushType")
        #expect(Self.refusal(header: "apns-priority", "7") == "400 BadPriority")
        #expect(Self.refusal(header: "apns-priority", nil) == nil)
        #expect(Self.refusal(header: "apns-expiration", "soon") == "400 BadExpirationDate")
        #expect(Self.refusal(header: "apns-expiration", "-1") == "400 BadExpirationDate")
        #expect(Self.refusal(header: "apns-expiration", "0") == nil)
        #expect(Self.refusal(header: "apns-id", "1") == "400 BadMessageId")
        #expect(Self.refusal(header: "apns-id", nil) == nil)
    }

    // MARK: - Devices

    @Test("For an unreachable device, neither an expired push nor a push without an expiration replaces the stored push")
    func triedOnce() {
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        func push(_ payload: String, _ expiration: String?) -> ReceivedPush {
            ReceivedPush(
                environment: .production, deviceToken: "aa11", headers: expiration.map { ["apns-expiration": $0] } ?? [:],
                payload: Array(payload.utf8), connection: 1, status: 200, reason: nil)
        }
        var devices = PushDeviceRegistry()
        devices.register(token: "aa11", topic: "com.example.app", environment: .production) { _ in }
        #expect(devices.setReachable(false, token: "aa11", now: now).isEmpty)
        for push in [push("kept", "1800000300"), push("once", "0"), push("also once", nil), push("expired", "1800000000")] {
            #expect(devices.handler(for: push, now: now) == nil)
        }
        let due = devices.setReachable(true, token: "aa11", now: now)
        #expect(due.map(\.push.payload) == [Array("kept".utf8)])
        #expect(devices.handler(for: push("now", "0"), now: now) != nil)
    }

    // MARK: - Provider tokens

    struct Provider {
        var rules = ProviderTokenRules()
        let key: SigningKey
        static let now = Date(timeIntervalSince1970: 1_800_000_000)

        init() throws {
            key = try SigningKey.generate(.es256, keyID: "KEY1234567")
            try rules.trust(teamID: "TEAM123456", keyID: "KEY1234567", publicKey: #require(key.publicKey), topics: ["com.example.app"])
        }

        func token(_ claims: JSONValue = ["iss": "TEAM123456", "iat": 1_800_000_000]) throws -> String { try key.sign(claims) }

        mutating func check(_ authorization: String?, connection: Int = 1, after seconds: Double = 0) -> String {
            switch rules.check(authorization, connection: connection, now: Self.now.addingTimeInterval(seconds)) {
            case .success(let topics): topics.sorted().joined()
            case .failure(let refusal): "\(refusal.answer.status) \(refusal.answer.reason ?? "")"
            }
        }
    }

    @Test("The local push gateway rejects a push without a valid provider token")
    func providerToken() throws {
        var provider = try Provider()
        #expect(try provider.check("bearer \(provider.token())") == "com.example.app")
        #expect(try provider.check("Bearer \(provider.token())", connection: 2) == "com.example.app")
        #expect(provider.check(nil) == "403 MissingProviderToken")
        let token = try provider.token()
        let forged = try SigningKey.generate(.es256, keyID: "KEY1234567").sign(["iss": "TEAM123456", "iat": 1_800_000_000])
        let shared = try SigningKey.secret(Array(repeating: 7, count: 32), algorithm: .hs256, keyID: "KEY1234567")
            .sign(["iss": "TEAM123456", "iat": 1_800_000_000])
        for wrong in [
            "bearer", "bearer ", token, "basic \(token)", "bearer x.y.z", "bearer \(token)x", "bearer \(forged)", "bearer \(shared)",
            "bearer \(try provider.token(["iss": "TEAM222222", "iat": 1_800_000_000]))",
            "bearer \(try provider.token(["iss": "TEAM123456"]))",
        ] {
            #expect(provider.check(wrong, connection: 3) == "403 InvalidProviderToken", "\(wrong)")
        }
    }

    @Test("The local push gateway accepts a provider token for one hour")
    func age() throws {
        var provider = try Provider()
        let token = try provider.token()
        #expect(provider.check("bearer \(token)", after: 3600) == "com.example.app")
        #expect(provider.check("bearer \(token)", after: 3601) == "403 ExpiredProviderToken")
        #expect(provider.check("bearer \(token)", after: -301) == "403 InvalidProviderToken")
    }

    @Test("The local push gateway rejects a new provider token on a connection until 20 minutes have passed")
    func updates() throws {
        var provider = try Provider()
        let first = try provider.token()
        let second = try provider.token(["iss": "TEAM123456", "iat": 1_800_000_001])
        #expect(provider.check("bearer \(first)") == "com.example.app")
        #expect(provider.check("bearer \(second)", after: 1199) == "429 TooManyProviderTokenUpdates")
        #expect(provider.check("bearer \(second)", connection: 2, after: 1199) == "com.example.app")
        #expect(provider.check("bearer \(second)", after: 1200) == "com.example.app")
        #expect(provider.check("bearer \(first)", after: 1201) == "429 TooManyProviderTokenUpdates")
        provider.rules.forget(connection: 1)
        #expect(provider.check("bearer \(first)", after: 1201) == "com.example.app")
    }

    @Test("The local push gateway accepts provider tokens of only one team on a connection")
    func teams() throws {
        var provider = try Provider()
        let other = try SigningKey.generate(.es256, keyID: "KEY2222222")
        try provider.rules.trust(teamID: "TEAM222222", keyID: "KEY2222222", publicKey: #require(other.publicKey), topics: [])
        #expect(try provider.check("bearer \(provider.token())") == "com.example.app")
        let token = try other.sign(["iss": "TEAM222222", "iat": 1_800_000_000])
        #expect(provider.check("bearer \(token)") == "403 InvalidProviderToken")
        #expect(provider.check("bearer \(token)", connection: 2) == "")
    }
}
