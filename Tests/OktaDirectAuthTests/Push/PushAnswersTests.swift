import AuthFoundation
import Foundation
import TestSupport
import Testing

@testable import OktaDirectAuth

/// Tests valid and invalid responses to a request that starts a push.
@Suite("Responses that start a push", .timeLimit(.minutes(1)))
struct PushAnswersTests {
    private let server = ScriptedIssuer.directAuthentication()
    private typealias Failure = DirectAuthenticationFlowError

    private func start(_ members: String) async throws -> DirectAuthenticationFlow.Status {
        server.answer("primary-authenticate", .init(body: "{\(members)}"))
        return try await DirectAuthenticationFlow(client: server.directClient()).start("jane", with: .oob(channel: .push))
    }

    @Test(
        "A polling interval in any numeric format is accepted, and raised to at least a second",
        arguments: [
            ("0", 1.0), ("-5", 1), ("0.001", 1), ("1", 1), ("2.5", 2.5), (#""7""#, 7), (#"" 7 ""#, 7), ("-1e300", 1),
        ])
    func interval(written: String, wait: TimeInterval) async throws {
        server.answer("token", .pending, .tokens())
        _ = try await start(#""oob_code":"o","channel":"push","binding_method":"none","expires_in":60,"interval":\#(written)"#)
        #expect(server.clock.waits == [wait])
    }

    @Test(
        "A polling interval that is not a number counts as missing, and an error reports this only if the challenge needs polling",
        arguments: [#""NaN""#, #""inf""#, #""soon""#, "null", "true", "[5]", "{}", #""""#])
    func noInterval(written: String) async throws {
        let rest = #""oob_code":"o","channel":"push","expires_in":60,"interval":\#(written)"#
        await #expect(throws: Failure.missingArguments(["interval"])) { try await start(rest + #","binding_method":"none""#) }
        guard case .continuation(.prompt) = try await start(rest + #","binding_method":"prompt""#) else { throw Failure.flowNotStarted }
        #expect(server.forms("token").isEmpty)
    }

    @Test(
        "Regardless of the server's numbers, push polling lasts at most an hour, with at least a second between polls",
        arguments: [
            "-1", "0", "0.001", "1e300", "-1e300", "1e-300", "9223372036854775807", "9223372036854775808", "-9223372036854775809",
            #""1e300""#, #""NaN""#, #""-1""#, "1e400", "null", "true",
        ])
    func hostileNumbers(value: String) async throws {
        for (lifetime, interval) in [(value, "5"), ("600", value), (value, value)] {
            let server = ScriptedIssuer.directAuthentication()
            server.answer(
                "primary-authenticate",
                .init(
                    body:
                        #"{"oob_code":"o","channel":"push","binding_method":"none","expires_in":\#(lifetime),"interval":\#(interval)}"#))
            server.answer("token", .pending)
            let error = await #expect(throws: (any Error).self) {
                try await DirectAuthenticationFlow(client: server.directClient()).start("jane", with: .oob(channel: .push))
            }
            #expect(error?.localizedDescription.isEmpty == false)
            #expect(server.clock.waits.reduce(0, +) <= 3_600 && server.forms("token").count <= 3_601)
            #expect(server.clock.waits.dropLast().allSatisfy { $0 >= 1 })
        }
    }

    @Test("A push without a polling interval causes an error that names the missing member")
    func absentInterval() async throws {
        await #expect(throws: Failure.missingArguments(["interval"])) {
            try await start(#""oob_code":"o","channel":"push","expires_in":60,"binding_method":"none""#)
        }
    }

    @Test(
        "Push polling lasts for the lifetime of the challenge, but at most for an hour",
        arguments: [("-1", 0.0), ("0", 0), ("-1e300", 0), ("30", 30), (#""30""#, 30), ("1e9", 3600), ("1e300", 3600)])
    func lifetime(written: String, length: TimeInterval) async throws {
        server.answer("token", .pending)
        await #expect(throws: Failure.pollingTimeoutExceeded) {
            try await start(#""oob_code":"o","channel":"push","binding_method":"none","expires_in":\#(written),"interval":600"#)
        }
        // The flow also polls once if the challenge seems expired, because clocks differ.
        #expect(server.clock.waits.reduce(0, +) == length && server.forms("token").count == max(Int(length / 600), 1))
    }

    @Test(
        "The technical description of a challenge response without a valid member names the member",
        arguments: [
            (#""oob_code":"","expires_in":60,"interval":5,"binding_method":"none""#, "oob_code"),
            (#""expires_in":60,"interval":5,"binding_method":"none""#, "oob_code"),
            (#""oob_code":7,"expires_in":60,"interval":5,"binding_method":"none""#, "oob_code"),
            (#""oob_code":"o","interval":5,"binding_method":"none""#, "expires_in"),
            (#""oob_code":"o","expires_in":"NaN","interval":5,"binding_method":"none""#, "expires_in"),
            (#""oob_code":"o","expires_in":60,"interval":5"#, "binding_method"),
            (#""oob_code":"o","expires_in":60,"interval":5,"binding_method":"wave""#, "binding_method"),
        ])
    func missing(members: String, name: String) async throws {
        let error = await #expect(throws: APIClientError.self) { try await start(members) }
        guard case .cannotParseResponse? = error else { throw Failure.flowNotStarted }
        #expect(error?.debugDescription.contains(name) == true, "\(error?.debugDescription ?? "")")
        #expect(server.forms("token").isEmpty)
    }

    @Test(
        "The number of a number challenge can be a JSON string or a JSON number",
        arguments: [(#""95""#, "95"), ("95", "95"), (#""07""#, "07"), (#"" 7 ""#, "7")])
    func number(written: String, shown: String) async throws {
        let status = try await start(
            #""oob_code":"o","channel":"push","binding_method":"transfer","expires_in":60,"interval":5,"binding_code":\#(written)"#)
        guard case .continuation(.transfer(_, code: shown)) = status else { throw Failure.flowNotStarted }
    }

    @Test(
        "A number challenge needs a non-blank string or an integer as its number, and any other value counts as missing",
        arguments: ["null", #""""#, #""  ""#, "[9]", "9.5", "1e40", "true"])
    func noNumber(written: String) async throws {
        await #expect(throws: Failure.bindingCodeMissing) {
            try await start(
                #""oob_code":"o","channel":"push","binding_method":"transfer","expires_in":60,"interval":5,"binding_code":\#(written)"#)
        }
        #expect(Failure.bindingCodeMissing.debugDescription == "The server asks to show a code and gives none.")
    }

    @Test("A push with unknown members and an unknown channel in its responses can be completed")
    func unknownMembers() async throws {
        server.answer("token", .init(status: 400, body: #"{"error":"authorization_pending","new":[{"a":1}],"id":7}"#), .tokens())
        let status = try await start(
            #""oob_code":"o","channel":"pigeon","binding_method":"none","binding_code":[],"expires_in":60,"interval":5,"id":{},"new":[1,{"a":null}]"#
        )
        guard case .success = status else { throw Failure.flowNotStarted }
    }

    @Test(
        "An mfa_required response with an invalid mfa_token causes an error that names this member", arguments: ["null", "7", #""""#, "{}"])
    func noToken(written: String) async throws {
        let flow = try DirectAuthenticationFlow(client: server.directClient())
        server.answer("token", .refusal("mfa_required", status: 403, more: #","mfa_token":\#(written)"#))
        await #expect(throws: OAuth2Error.missingOAuth2ResponseKey("mfa_token")) { try await flow.start("jane", with: .password("x")) }
    }
}
