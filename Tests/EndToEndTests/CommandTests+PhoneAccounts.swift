import CountersignSandbox
import Foundation
import JOSE
import TestSupport
import Testing

/// Tests a phone with accounts at two organizations, and with a wrong clock.
extension CommandTests {
    /// Runs a test with a phone that has one account at each of two organizations.
    private static func withTwoOrganizations(_ body: (PhoneFixture, _ other: Sandbox) async throws -> Void) async throws {
        try await PhoneFixture.with { phone in
            try await phone.enroll()
            try await withSandbox { other in
                let enrolled = try await phone.run(
                    "phone", "enroll", PhoneFixture.jane, "--org", other.origin.absoluteString, input: PhoneFixture.password + "\n")
                try #require(enrolled.status == 0, "\(enrolled.errors)")
                try await body(phone, other)
            }
        }
    }

    @Test(
        "If an organization rejects an account of the phone, countersign phone listen names the account and continues with the other account",
        .timeLimit(.minutes(5)))
    func refusedAccount() async throws {
        try await Self.withTwoOrganizations { phone, other in
            // The clocks differ by more than a day, which the phone does not correct. The organization refuses the phone's signatures.
            other.advance(by: 90_000)
            let listener = try phone.start("phone", "listen", "--interval", "1", "--json")
            try await listener.waitFor(#""event":"refused""#)
            let refused = try await listener.waitFor("}\n")
            #expect(refused.contains("This device's clock is 25 hours behind the server's. Set the date and time."), "\(refused)")
            #expect(refused.contains(other.origin.absoluteString), "\(refused)")
            let signIn = try phone.startSignIn()
            let request = try await listener.waitFor(#""event":"request""#) + listener.waitFor("}\n")
            #expect(request.contains("Portal"), "\(request)")
            signIn.interrupt()
            #expect(await signIn.end().status == 130)
            listener.interrupt()
            #expect(await listener.end().status == 0)

            // The commands that list and answer requests also continue, and name the account that failed.
            let pending = try await phone.run("phone", "pending")
            #expect(pending.status == 0, "\(pending.errors)")
            #expect(pending.errors.contains("\(PhoneFixture.jane) at \(other.origin.absoluteString)"), "\(pending.errors)")
            #expect(pending.errors.contains("Set the date and time."))
        }
    }

    @Test("A phone whose clock is an hour behind can fetch and approve requests", .timeLimit(.minutes(5)))
    func wrongClock() async throws {
        try await PhoneFixture.with { phone in
            try await phone.enroll()
            phone.sandbox.advance(by: 3_600)
            let signIn = try phone.startSignIn()
            let id = try #require(try await phone.pendingRequest()["id"]?.stringValue)
            let approved = try await phone.run("phone", "approve", id)
            #expect(approved.status == 0, "\(approved.errors)")
            #expect(await signIn.end().status == 0)
        }
    }
}
