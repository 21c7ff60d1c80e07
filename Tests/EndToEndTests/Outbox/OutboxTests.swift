import AuthFoundation
import CountersignSandbox
import Delivery
import Foundation
import JOSE
import OktaDirectAuth
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The sandbox's outbox", .timeLimit(.minutes(2)))
struct OutboxTests {
    private static let jane = "jane.doe@example.com"

    @Test(
        "The sandbox's outbox contains the text message or call of a direct authentication, and the message's code completes the sign-in",
        arguments: [(true, "sms"), (false, "tel")])
    func signIn(_ isText: Bool, _ method: String) async throws {
        try await withSandbox { sandbox in
            try await sandbox.addCodeFactor(isText ? .text : .call, to: "+1 555 123 4821", for: Self.jane)
            let flow = DirectAuthenticationFlow(client: sandbox.client(.directAuth))
            guard case .mfaRequired = try await flow.start(Self.jane, with: .password("Correct-Horse-7")) else { throw Unexpected() }
            guard case .continuation(.prompt) = try await flow.resume(with: .oob(channel: isText ? .sms : .voice)) else {
                throw Unexpected()
            }
            let message = try await sandbox.outbox.next(to: Self.jane, by: isText ? .text : .call)
            #expect(message.recipient == "+15551234821" && sandbox.outbox.messages.map(\.id) == [message.id])
            guard case .success(let token) = try await flow.resume(with: .prompt(code: try #require(message.code))) else {
                throw Unexpected()
            }
            #expect(token.idToken?.authenticationMethods?.map(\.rawValue) == ["pwd", method, "mfa"])
        }
    }

    private struct Unexpected: Error {}

    @Test("The sandbox's outbox is a page for browsers and JSON for programs, and a waiting request returns when a message arrives")
    func page() async throws {
        try await withSandbox { sandbox in
            func get(_ path: String, accept: String = "application/json") async throws -> (HTTPURLResponse, String) {
                let url = try #require(URL(string: sandbox.origin.absoluteString + "/sandbox/" + path))
                var request = URLRequest(url: url)
                request.setValue(accept, forHTTPHeaderField: "Accept")
                let (data, response) = try await PlainHTTP.data(for: request)
                return (response, String(decoding: data, as: UTF8.self))
            }
            let (head, html) = try await get("outbox", accept: "text/html,application/xhtml+xml")
            #expect(head.value(forHTTPHeaderField: "Content-Type") == "text/html; charset=utf-8" && html.contains("<h1>Outbox</h1>"))
            #expect(head.value(forHTTPHeaderField: "Content-Security-Policy")?.contains("script-src 'self'") == true)
            for (name, type) in [("outbox.css", "text/css"), ("outbox.js", "text/javascript")] {
                let (head, _) = try await get(name)
                #expect(head.statusCode == 200 && head.value(forHTTPHeaderField: "Content-Type") == "\(type); charset=utf-8")
            }
            try await sandbox.addCodeFactor(.text, to: "+15551234821", for: Self.jane)
            // The request is sent before the message exists, and answered as soon as it does.
            async let waiting = get("outbox?after=0")
            let flow = DirectAuthenticationFlow(client: sandbox.client(.directAuth))
            _ = try await flow.start(Self.jane, with: .password("Correct-Horse-7"))
            _ = try await flow.resume(with: .oob(channel: .sms))
            let told = try JSONValue(parsing: Array(try await waiting.1.utf8))
            #expect(told["last"] == 1 && told["messages"]?.arrayValue?.first?["recipient"] == "+15551234821")
            #expect(try await get("outbox/1.html").0.statusCode == 404)
            sandbox.outbox.clear()
            #expect(try await get("outbox").1 == #"{"last":0,"messages":[]}"#)
        }
    }

    @Test("If the sandbox's outbox is set to reject a text message, the outbox stays empty, and the sign-in step does not fail")
    func refusing() async throws {
        try await withSandbox { sandbox in
            try await sandbox.addCodeFactor(.text, to: "+15551234821", for: Self.jane)
            sandbox.outbox.fail(with: .refused(reason: "barred"))
            let flow = DirectAuthenticationFlow(client: sandbox.client(.directAuth))
            guard case .mfaRequired = try await flow.start(Self.jane, with: .password("Correct-Horse-7")) else { throw Unexpected() }
            guard case .continuation(.prompt) = try await flow.resume(with: .oob(channel: .sms)) else { throw Unexpected() }
            #expect(sandbox.outbox.messages.isEmpty)
        }
    }

    @Test("Adding a sandbox factor for an unknown user, with an invalid destination or with an unusable answer throws the matching error")
    func refusals() async throws {
        try await withSandbox { sandbox in
            func code(_ body: () async throws -> String) async -> FactorError.Code? {
                do {
                    _ = try await body()
                    return nil
                } catch {
                    return (error as? FactorError)?.code
                }
            }
            #expect(await code { try await sandbox.addCodeFactor(.text, to: "+15551234821", for: "unknown@example.com") } == .unknownPerson)
            for (channel, destination) in [(MessageChannel.text, "555"), (.call, "jane@example.com"), (.mail, "+15551234821")] {
                #expect(await code { try await sandbox.addCodeFactor(channel, to: destination, for: Self.jane) } == .unreadableDestination)
            }
            #expect(
                await code { try await sandbox.addSecurityQuestion("first_award", answer: "abc", for: Self.jane) } == .unusableQuestion)
        }
    }
}
