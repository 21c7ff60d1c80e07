import CountersignSandbox
import Foundation
import HTTPTypes
import NIOConcurrencyHelpers
import TestSupport
import Testing

@testable import ServerHTTP
@testable import SignInPages

@Suite("Waiting pages")
struct LiveWaitingTests {
    private struct Gone: Error {}

    private static func sent(_ response: ServerResponse) async throws -> String {
        var bytes: [UInt8] = []
        try await response.stream? { bytes += $0 }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("The event stream of a waiting page reports the user's answer once and then ends")
    func answered() async throws {
        let clock = ManualClock(sleeps: .skipped)
        let live = LiveWaiting(clock: clock)
        let answeredAt = clock.now + 3
        let response = live.stream(try #require(live.seat(of: "a"))) { $0 < answeredAt }
        #expect(response.headers[.contentType] == "text/event-stream")
        #expect(try await Self.sent(response) == "retry: 2000\n\n:\n\n:\n\n:\n\nevent: answered\ndata: 1\n\n")
    }

    @Test("If the user does not answer, the event stream of a waiting page ends after the time limit and reports no answer")
    func over() async throws {
        let clock = ManualClock(sleeps: .skipped)
        let live = LiveWaiting(clock: clock)
        let start = clock.now
        let text = try await Self.sent(live.stream(try #require(live.seat(of: "a"))) { _ in true })
        #expect(!text.contains("answered"))
        #expect(clock.now.timeIntervalSince(start) == LiveWaiting.longest)
    }

    @Test("A browser that disconnects from a waiting page releases its event stream")
    func gone() async throws {
        let live = LiveWaiting(clock: ManualClock(sleeps: .skipped))
        do {
            let response = live.stream(try #require(live.seat(of: "a"))) { _ in true }
            #expect(live.count == 1)
            await #expect(throws: Gone.self) {
                try await response.stream? { bytes in if bytes == Array(":\n\n".utf8) { throw Gone() } }
            }
        }
        #expect(live.count == 0)
    }

    @Test("The number of event streams is limited per sign-in and in total")
    func bounded() throws {
        let live = LiveWaiting(clock: ManualClock(sleeps: .skipped))
        var seats = (0..<LiveWaiting.mostOfOne).map { _ in live.seat(of: "a") }
        #expect(live.seat(of: "a") == nil)
        var others = (0..<LiveWaiting.most).map { live.seat(of: "other \($0)") }
        #expect(others.compactMap { $0 }.count == LiveWaiting.most - LiveWaiting.mostOfOne)
        seats = []
        #expect(live.seat(of: "a") != nil)
        others = []
        #expect(live.count == 0 && seats.isEmpty && others.isEmpty)
    }

    @Test("Only the browser of the sign-in learns from the events address whether the device has answered")
    func wire() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let browser = WireBrowser(server.wire)
            let choice = try await browser.signIn(try await WireRelyingParty.browserApp.begin(browser))
            let waiting = try await browser.submit(choice, "factor", ["factor": "push"])
            #expect(try #require(waiting["Content-Security-Policy"]).contains("script-src 'self'; connect-src 'self'; "))
            let events = try #require(waiting.body.firstMatch(of: /data-events="([^"]+)"/)?.1)
            #expect(try await browser.get(String(events)).body == #"{"waiting":true}"#)
            #expect(try await WireBrowser(server.wire).get(String(events)).body == #"{"waiting":false}"#)
            try await phone.approve()
            #expect(try await browser.get(String(events)).body == #"{"waiting":false}"#)
            browser.headers = [("Accept", "text/event-stream")]
            let stream = try await browser.get(String(events))
            #expect(stream["Content-Type"] == "text/event-stream" && stream["Cache-Control"] == "no-cache, no-store")
            #expect(stream["Content-Length"] == nil)
            #expect(stream.body.contains("event: answered"))
        }
    }
}
