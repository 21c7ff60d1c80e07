import Foundation
import Testing

@testable import IdentityCore

@Suite("The payload of a log line")
struct LogEventPayloadTests {
    @Test("it is read back as it was, whatever is in it or left out")
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

    @Test("a whole second is read back too")
    func wholeSecond() throws {
        let event = LogEvent(id: "1", time: Date(timeIntervalSince1970: 1_700_000_000), type: "a", outcome: .success, requestID: "r")
        #expect(try RecordCoding.decode(LogEvent.self, from: event.payload) == event)
    }
}
