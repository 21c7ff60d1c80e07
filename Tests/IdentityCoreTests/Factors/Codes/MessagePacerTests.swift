import Foundation
import Testing

@testable import IdentityCore

@Suite("Messages to one number or address")
struct MessagePacerTests {
    private let pacer = MessagePacer()

    private func isSent(
        _ key: String, _ occasion: SentCodeMethod.Occasion, at seconds: TimeInterval, limit: Int? = nil, unconfirmed: String? = nil,
        request: String? = nil
    ) -> Bool {
        let now = Date(timeIntervalSince1970: 1_800_000_000 + seconds)
        return pacer.refusal(
            .sms, to: key, occasion, limit: limit, unconfirmed: unconfirmed, requestID: request ?? "\(seconds)", now: now) == nil
    }

    @Test("An unconfirmed number gets at most twelve messages an hour, and messages to users who confirmed it do not count")
    func unconfirmed() {
        let sent = (0..<100).count { round in
            isSent("person \(round % 10) +491", .known, at: Double(round) * 31, unconfirmed: "+491")
        }
        #expect(sent == 12)
        #expect(isSent("owner +491", .known, at: 3_100))
        #expect(isSent("person 1 +492", .known, at: 3_100, unconfirmed: "+492"))
        #expect(isSent("person 1 +491", .known, at: 3_700, unconfirmed: "+491"))
    }

    @Test("Recovery messages do not use up sign-in messages, and both together are twelve an hour")
    func shares() {
        let recoveries = (0..<40).count { isSent("+491", .anybody, at: Double($0) * 31) }
        #expect(recoveries == 4)
        #expect(isSent("+491", .known, at: 0))
        let others = (1..<40).count { isSent("+491", .known, at: Double($0) * 31) }
        #expect(recoveries + 1 + others == 12)
        #expect(isSent("+491", .anybody, at: 3_601) && isSent("+491", .known, at: 3_601))
        // Two messages of one kind are at least half a minute apart.
        #expect(!isSent("+491", .anybody, at: 3_620) && !isSent("+491", .known, at: 3_620))
    }

    @Test("Messages of all users share a limit per minute, and a repeated request counts once")
    func everybody() {
        for number in 0..<3 { #expect(isSent("+4910\(number)", .known, at: 1, limit: 3, request: "r\(number)")) }
        #expect(isSent("+49102", .known, at: 1, limit: 3, request: "r2"))
        let now = Date(timeIntervalSince1970: 1_800_000_005)
        #expect(
            pacer.refusal(.voice, to: "+49104", .anybody, limit: 3, requestID: "x", now: now)
                == .tooMany(.voice, until: Date(timeIntervalSince1970: 1_800_000_060)))
        #expect(isSent("+49104", .known, at: 60, limit: 3))
        // A message that is not sent does not count.
        for number in 0..<10 { #expect(isSent("name \(number)", .anybody, at: 61)) }
        #expect(isSent("+49105", .known, at: 62, limit: 3) && isSent("+49106", .known, at: 62, limit: 3))
        #expect(!isSent("+49107", .known, at: 62, limit: 3))
    }
}
