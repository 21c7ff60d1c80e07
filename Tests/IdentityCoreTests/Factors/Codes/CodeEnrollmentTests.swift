import Foundation
import Testing

@testable import IdentityCore
@testable import Store

@Suite("Enrollment of phone numbers and mail addresses")
struct CodeEnrollmentTests {
    private let organization: PushFixture
    private let jane: String
    private var engine: Engine { organization.engine }

    init() async throws {
        organization = try await PushFixture()
        jane = try await organization.userID()
    }

    private struct Person: Sendable {
        var user: StoredUser
        var enrollments: [Enrollment]
    }

    private func person() async throws -> Person {
        let found = try await organization.store.read { [engine, jane] view -> Person? in
            guard let user = try engine.user(id: jane, in: view) else { return nil }
            return Person(user: user, enrollments: try view.records(.enrollment, where: "user", is: jane, limit: 100).map(Enrollment.init))
        }
        return try #require(found)
    }

    private func begin(
        _ channel: CodeChannel = .sms, _ number: String? = "+1 555 123 4821", extension more: String? = nil, replaces: Bool = false,
        owner: String = "txn1", at seconds: TimeInterval
    ) async throws -> PreparedCode {
        let person = try await person()
        let snapshot = try await engine.snapshot()
        let prepared = try engine.beginCodeEnrollment(
            CodeEnrollmentRequest(channel: channel, phoneNumber: number, phoneExtension: more, replaces: replaces, owner: owner),
            for: person.user.value, holding: person.enrollments, snapshot: snapshot, context: PushFixture.context(seconds))
        try await engine.write(prepared.writes, context: PushFixture.context(seconds))
        return prepared
    }

    private func confirm(
        _ id: String, _ code: String, owner: String = "txn1", at seconds: TimeInterval
    ) async throws -> CodeConfirmation {
        let person = try await person()
        let confirmation = try engine.confirmCodeEnrollment(
            id: id, code: code, owner: owner, user: person.user, holding: person.enrollments, context: PushFixture.context(seconds))
        try await engine.write(confirmation.writes, context: PushFixture.context(seconds))
        return confirmation
    }

    private func active() async throws -> [String] {
        try await person().enrollments.filter { $0.status == .active }.compactMap { $0.sentCode?.destination.key }
    }

    @Test(
        "A phone number is enrolled only with the code that the server sent to that number, and the code is valid once",
        arguments: [CodeChannel.sms, .voice])
    func ceremony(_ channel: CodeChannel) async throws {
        let begun = try await begin(channel, at: 1)
        #expect(try begun.message.purpose == .enrollment && begun.message.channel == channel)
        #expect(try await active() == [])
        let code = try #require(try begun.message.code)
        #expect(try await confirm(begun.enrollment.id, CodeFixture.other(than: code), at: 2).refusal == .wrongCode)
        #expect(try await confirm(begun.enrollment.id, code, owner: "txn2", at: 3).refusal == .wrongCode)
        #expect(try await active() == [])
        #expect(try await confirm(begun.enrollment.id, code, at: 4).refusal == nil)
        #expect(try await active() == ["+15551234821"])
        #expect(try await confirm(begun.enrollment.id, code, at: 5).refusal == .notPending)
    }

    @Test("The enrollment of a mail factor sends the code to the user's own mail address")
    func mail() async throws {
        let begun = try await begin(.email, nil, at: 1)
        #expect(try begun.message.destination.mailAddress?.text == "jane.doe@example.com")
        #expect(try await confirm(begun.enrollment.id, #require(begun.message.code), at: 2).refusal == nil)
    }

    @Test("An enrolled phone number is replaced only on request, and only after the new number is confirmed")
    func replacing() async throws {
        let first = try await begin(at: 1)
        _ = try await confirm(first.enrollment.id, #require(first.message.code), at: 2)
        await #expect(throws: CodeRefusal.otherNumber) { _ = try await begin(.sms, "+15557654321", at: 40) }
        let second = try await begin(.sms, "+15557654321", replaces: true, at: 41)
        #expect(try await active() == ["+15551234821"])
        _ = try await confirm(second.enrollment.id, #require(second.message.code), at: 42)
        #expect(try await active() == ["+15557654321"])
        // Without a number in the request, the server uses the number that the user has verified.
        let call = try await begin(.voice, nil, at: 80)
        #expect(try call.message.destination.phoneNumber?.e164 == "+15557654321")
    }

    @Test(
        "An enrollment with an invalid or missing phone number, or with an invalid extension, is rejected",
        arguments: [
            ("555 123 4821", nil, CodeRefusal.invalidNumber), ("+1 555 123 4821", "12a", .invalidExtension),
            ("+1 555 123 4821", String(repeating: "1", count: 16), .invalidExtension), (nil, nil, .noNumber),
        ] as [(String?, String?, CodeRefusal)])
    func refusing(_ number: String?, _ more: String?, _ refusal: CodeRefusal) async throws {
        await #expect(throws: refusal) { _ = try await begin(.voice, number, extension: more, at: 1) }
    }

    @Test("Restarting a phone enrollment resets neither the message limit nor the limit of wrong codes, even with another number")
    func limits() async throws {
        _ = try await begin(at: 1)
        await #expect(throws: CodeRefusal.tooSoon(.sms, until: TestOrganization.time(31))) { _ = try await begin(at: 30) }
        await #expect(throws: CodeRefusal.tooSoon(.sms, until: TestOrganization.time(31))) {
            _ = try await begin(.sms, "+15557654321", at: 30)
        }
        let second = try await begin(at: 31)
        #expect(try await person().enrollments.count == 1)
        for number in 0..<5 {
            _ = try await confirm(second.enrollment.id, CodeFixture.other(than: #require(second.message.code)), at: 32 + Double(number))
        }
        // The correct code and the next message are refused too.
        #expect(
            try await confirm(second.enrollment.id, #require(second.message.code), at: 40).refusal
                == .tooMany(.sms, until: TestOrganization.time(332)))
        await #expect(throws: CodeRefusal.tooMany(.sms, until: TestOrganization.time(332))) { _ = try await begin(at: 62) }
    }

    @Test("Only phone numbers with an allowed country code can be enrolled, and an organization with an invalid country code is rejected")
    func callingCodes() async throws {
        let organization = try await PushFixture { $0.callingCodes = ["1", "353"] }
        let user = try #require(try await organization.engine.user(login: PushFixture.jane))
        let snapshot = try await organization.engine.snapshot()
        func begin(_ number: String, at seconds: TimeInterval) throws {
            _ = try organization.engine.beginCodeEnrollment(
                CodeEnrollmentRequest(channel: .sms, phoneNumber: number, owner: "txn1"), for: user, holding: [], snapshot: snapshot,
                context: PushFixture.context(seconds))
        }
        try begin("+1 555 123 4821", at: 1)
        try begin("+353 1 234 5678", at: 32)
        #expect(throws: CodeRefusal.foreignNumber) { try begin("+35 412 345 678", at: 63) }
        #expect(throws: CodeRefusal.foreignNumber) { try begin("+44 20 7946 0958", at: 94) }
        for code in ["", "+1", "01", "35", "1234", "x"] {
            await #expect(throws: OrganizationError.self, "\(code)") { _ = try await PushFixture { $0.callingCodes = [code] } }
        }
    }

    @Test("A pending phone enrollment expires after ten minutes")
    func waiting() async throws {
        let begun = try await begin(at: 1)
        #expect(try await confirm(begun.enrollment.id, #require(begun.message.code), at: 602).refusal == .notPending)
    }
}

extension PreparedCode {
    /// The message with the code. Throws an error if no message was sent.
    var message: OutgoingMessage {
        get throws {
            guard case .message(let message)? = writes.outbox.first else { throw NoSuchThing("message") }
            return message
        }
    }
}
