import Foundation
import Testing

@testable import IdentityCore

@Suite("Log event payload")
struct LogEventPayloadTests {
    @Test("A log event is decoded unchanged from its payload, with and without the optional members")
    func roundTrip() throws {
        let bare = LogEvent(id: "1", time: Date(timeIntervalSince1970: 1_700_000_000.123456), type: "a.b", outcome: .denied, requestID: "r")
        var full = bare
        full.reason = "it said \"no\"\n\u{1}é"
        full.userID = "00u"
        full.clientID = "0oa"
        full.server = "default"
        full.address = "::1"
        for event in [bare, full] { #expect(try RecordCoding.decode(LogEvent.self, from: event.payload) == event) }
    }

    @Test("A log event at a whole second is decoded unchanged from its payload")
    func wholeSecond() throws {
        let event = LogEvent(id: "1", time: Date(timeIntervalSince1970: 1_700_000_000), type: "a", outcome: .success, requestID: "r")
        #expect(try RecordCoding.decode(LogEvent.self, from: event.payload) == event)
    }
}
