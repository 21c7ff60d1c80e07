import AuthFoundation
import Foundation
import JOSE
import TestSupport
import Testing

@testable import OAuth2Auth

@Suite("Device authorization")
struct DeviceAuthorizationTests {
    private let issuer = ScriptedIssuer()
    private static let verification =
        #"{"device_code":"d-1","user_code":"KDWQ-PLMT","verification_uri":"https://id.example.com/activate","verification_uri_complete":"https://id.example.com/activate?user_code=KDWQPLMT","expires_in":600,"interval":7}"#

    private func flow(_ body: String = verification, clock: (any OAuth2Clock)? = nil) throws -> DeviceAuthorizationFlow {
        issuer.answer("/device/authorize", .json(body))
        return DeviceAuthorizationFlow(
            client: try issuer.client(authentication: .clientSecret("s"), clock: clock), additionalParameters: ["audience": "api://x"])
    }

    @Test("Starting device authorization returns the user code and the verification URL")
    func start() async throws {
        let flow = try flow()
        let watcher = DeviceWatcher()
        flow.add(delegate: watcher)
        let verification = try await flow.start(with: .init(acrValues: ["phr"]))
        #expect(try verification.userCode == "KDWQ-PLMT" && verification.verificationUri == url("https://id.example.com/activate"))
        #expect(try verification.verificationUriComplete == url("https://id.example.com/activate?user_code=KDWQPLMT"))
        #expect(verification.expiresIn == 600 && verification.issuedAt == issuer.clock.now && verification.interval == 7)
        #expect(flow.context?.verification == verification && flow.isAuthenticating)
        #expect(!"\(verification)".contains("d-1"))
        #expect(
            issuer.forms("/device/authorize") == [
                ["client_id": "app", "client_secret": "s", "scope": "openid profile", "acr_values": "phr", "audience": "api://x"]
            ])
        #expect(watcher.events == ["started", "KDWQ-PLMT"])
    }

    @Test("Device authorization polls at the server's interval, plus five seconds after slow_down, until the user approves")
    func approved() async throws {
        let flow = try flow()
        issuer.answer(
            "/v1/token", .refusal("authorization_pending"), .refusal("slow_down"), .refusal("authorization_pending"),
            .tokens(["id_token": try issuer.idToken()]))
        _ = try await flow.start(with: .init(acrValues: ["phr"]))
        let token = try await flow.resume()
        #expect(token.accessToken == "access-1" && token.context.acrValues == ["phr"] && !flow.isAuthenticating && flow.context == nil)
        #expect(issuer.clock.waits == [7, 12, 12])
        #expect(
            issuer.forms("/v1/token").first == [
                "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": "d-1", "client_id": "app",
                "client_secret": "s", "scope": "openid profile", "redirect_uri": "com.example.app:/callback", "audience": "api://x",
            ])
    }

    @Test(
        "Device authorization ends with the server's error if the user denies the request or the server rejects the device code",
        arguments: ["access_denied", "expired_token", "invalid_grant"])
    func refused(code: String) async throws {
        let flow = try flow()
        issuer.answer("/v1/token", .refusal("authorization_pending"), .refusal(code))
        _ = try await flow.start()
        let error = await #expect(throws: APIClientError.self) { try await flow.resume() }
        #expect(error?.serverError?.code.rawValue == code && !flow.isAuthenticating)
        await #expect(throws: OAuth2Error.invalidContext) { try await flow.resume() }
        #expect(issuer.requests("/v1/token").count == 2)
    }

    @Test("Device authorization stops polling when the device code expires")
    func expired() async throws {
        let flow = try flow()
        issuer.answer("/v1/token", .refusal("authorization_pending"))
        _ = try await flow.start()
        await #expect(throws: DeviceCodeExpiredError()) { try await flow.resume() }
        #expect(issuer.clock.waits.reduce(0, +) == 600 && !flow.isAuthenticating)
    }

    @Test(
        "The polling interval of device authorization is five seconds by default, and at least one second",
        arguments: [("", 5.0), (#","interval":0"#, 1)])
    func interval(member: String, wait: TimeInterval) async throws {
        let flow = try flow(#"{"device_code":"d","user_code":"u","verification_uri":"https://a.example","expires_in":"60"\#(member)}"#)
        issuer.answer("/v1/token", .refusal("authorization_pending"), .tokens())
        let verification = try await flow.start()
        #expect(verification.verificationUriComplete == nil && verification.expiresIn == 60)
        _ = try await flow.resume()
        #expect(issuer.clock.waits == [wait])
    }

    /// JSON values that a hostile server sends where a number of seconds is expected.
    static let hostileValues = [
        "-1", "0", "0.001", "1e300", "-1e300", "1e-300", "9223372036854775807", "9223372036854775808", "-9223372036854775809", #""1e300""#,
        #""NaN""#, #""inf""#, #""-1""#, #""soon""#, "null", "true", "[5]", "{}", "1e400",
    ]

    @Test(
        "Regardless of the server's numbers, device authorization waits at most an hour, and at least a second between polls",
        arguments: hostileValues)
    func hostileNumbers(value: String) async throws {
        for (lifetime, interval) in [(value, "5"), ("600", value), (value, value)] {
            let issuer = ScriptedIssuer()
            issuer.answer(
                "/device/authorize",
                .json(
                    #"{"device_code":"d","user_code":"u","verification_uri":"https://a.example","expires_in":\#(lifetime),"interval":\#(interval)}"#
                ))
            issuer.answer("/v1/token", .refusal("authorization_pending"))
            let flow = DeviceAuthorizationFlow(client: try issuer.client(authentication: .clientSecret("s")))
            do {
                let verification = try await flow.start()
                #expect((0...3_600).contains(verification.expiresIn))
                _ = try await flow.resume()
                Issue.record("\(lifetime), \(interval): approved")
            } catch {
                #expect(!error.localizedDescription.isEmpty)
            }
            #expect(issuer.clock.waits.reduce(0, +) <= 3_600 && issuer.requests("/v1/token").count <= 3_601)
            #expect(issuer.clock.waits.dropLast().allSatisfy { $0 >= 1 })
        }
    }

    @Test(
        "A device authorization response with a missing member or an insecure URL causes an error that names the member",
        arguments: [
            (#"{"user_code":"u","verification_uri":"https://a.example","expires_in":60}"#, "device_code"),
            (#"{"device_code":"d","verification_uri":"https://a.example","expires_in":60}"#, "user_code"),
            (#"{"device_code":"d","user_code":"u","expires_in":60}"#, "verification_uri"),
            (#"{"device_code":"d","user_code":"u","verification_uri":"http://a.example","expires_in":60}"#, "verification_uri"),
            (#"{"device_code":"d","user_code":"u","verification_uri":"https://a.example"}"#, "expires_in"),
        ])
    func incomplete(body: String, member: String) async throws {
        let flow = try flow(body)
        let error = await #expect(throws: APIClientError.self) { try await flow.start() }
        #expect(error == .cannotParseResponse(error: ClaimError.missingRequiredValue(key: member)) && !flow.isAuthenticating)
    }

    @Test("Device authorization fails if the server has no device authorization endpoint")
    func notOffered() async throws {
        let issuer = ScriptedIssuer(["device_authorization_endpoint": .null])
        await #expect(throws: OAuth2Error.missingOpenIdConfiguration(attribute: "device_authorization_endpoint")) {
            try await issuer.client().deviceAuthorizationFlow().start()
        }
    }

    @Test("Device authorization cannot be resumed before its start")
    func notStarted() async throws {
        let flow = try flow()
        await #expect(throws: OAuth2Error.invalidContext) { try await flow.resume() }
    }

    @Test(
        "Cancelling, resetting or restarting device authorization ends the wait immediately and stops polling", .timeLimit(.minutes(1)),
        arguments: ["cancel", "reset", "start"])
    func givenUp(how: String) async throws {
        let clock = ManualClock()
        let flow = try flow(clock: clock)
        issuer.answer("/v1/token", .refusal("authorization_pending"), .tokens())
        _ = try await flow.start()
        let call = Task { try await flow.resume() }
        await clock.sleepers(1)
        switch how {
        case "cancel": call.cancel()
        case "reset": await flow.reset()
        default: _ = try await flow.start()
        }
        let error = await #expect(throws: (any Error).self) { try await call.value }
        #expect(how == "cancel" ? error is CancellationError : error as? OAuth2Error == .invalidContext)
        #expect(flow.isAuthenticating == (how == "start") && issuer.requests("/v1/token").count == 1)
    }

    @Test(
        "Concurrent calls that resume device authorization get the same result, and cancelling one call does not affect the others",
        .timeLimit(.minutes(1)))
    func together() async throws {
        let clock = ManualClock()
        let flow = try flow(clock: clock)
        issuer.answer("/v1/token", .refusal("authorization_pending"), .tokens())
        _ = try await flow.start()
        let first = Task { try await flow.resume() }
        await clock.sleepers(1)
        let others = (0..<2).map { _ in Task { try await flow.resume() } }
        let leaving = Task { try await flow.resume() }
        leaving.cancel()
        await #expect(throws: CancellationError.self) { try await leaving.value }
        clock.advance(by: 60)
        let token = try await first.value
        for other in others {
            // A call that begins after the end of the first call throws an error.
            do { #expect(try await other.value == token) } catch { #expect(error as? OAuth2Error == .invalidContext) }
        }
        #expect(issuer.requests("/v1/token").count == 2 && !flow.isAuthenticating)
    }

    @Test("If tokens arrive after device authorization is cancelled, the client revokes the tokens", .timeLimit(.minutes(1)))
    func late() async throws {
        let flow = try flow()
        let gate = Gate()
        issuer.on("/v1/token") { _, _ in
            await gate.wait()
            return .tokens()
        }
        _ = try await flow.start()
        let call = Task { try await flow.resume() }
        await issuer.awaits("/v1/token", 1)
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        gate.open()
        await issuer.awaits("/v1/revoke", 2)
        #expect(Set(issuer.forms("/v1/revoke").compactMap { $0["token"] }) == ["access-1", "refresh-1"])
    }
}

private final class DeviceWatcher: DeviceAuthorizationFlowDelegate {
    private let told = Locked([String]())
    var events: [String] { told.withLock { $0 } }

    func authenticationStarted<Flow>(flow: Flow) { told.withLock { $0.append("started") } }
    func authentication<Flow: DeviceAuthorizationFlow>(flow: Flow, received verification: DeviceAuthorizationFlow.Verification) {
        told.withLock { $0.append(verification.userCode) }
    }
}
