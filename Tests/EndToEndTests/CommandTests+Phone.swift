import CountersignSandbox
import Foundation
import JOSE
import TestSupport
import Testing

/// Tests the terminal phone with a sign-in that waits for it: two processes that use one sandbox.
extension CommandTests {
    @Test(
        "countersign phone approve approves the push of a sign-in that another process started, and the sign-in stores a credential",
        .timeLimit(.minutes(5)))
    func approval() async throws {
        try await PhoneFixture.with { phone in
            let enrolled = try await phone.enroll()
            let listed = try await phone.run("phone", "list")
            #expect(listed.output.hasPrefix("\(try #require(enrolled["id"]?.stringValue))  \(PhoneFixture.jane)  phone-app at http://"))
            // The token of the enrollment is revoked and not stored, so there is no credential.
            #expect(phone.sandbox.count(.revoke) == 1)
            #expect(try await phone.credentials() == [])

            let signIn = try phone.startSignIn("--json")
            try await signIn.waitFor(#"{"channel":"push","status":"waiting"}"#)
            let request = try await phone.pendingRequest()
            #expect(request["application"] == "Portal")
            #expect(request["place"] == "127.0.0.1")
            #expect(request["verified"] == true)
            #expect(request["numbers"] == nil)
            let shown = try await phone.run("phone", "pending")
            #expect(shown.output.contains("Portal wants to sign you in"))
            #expect(shown.output.contains("Account  \(PhoneFixture.jane)"))
            let approved = try await phone.run("phone", "approve", try #require(request["id"]?.stringValue))
            #expect(approved.status == 0 && approved.output == "Approved.\n", "\(approved.errors)")

            let (status, text) = await signIn.end()
            #expect(status == 0, "\(text)")
            let credential = try JSONValue(parsing: String(try #require(text.split(separator: "\n").last)))
            let id = try #require(credential["id"]?.stringValue)
            #expect(try await phone.credentials() == [id])
            #expect(!text.contains(PhoneFixture.password))
        }
    }

    @Test("A sign-in that the user denies on the phone fails and stores no credential", .timeLimit(.minutes(5)), arguments: [false, true])
    func denial(isSuspicious: Bool) async throws {
        try await PhoneFixture.with { phone in
            try await phone.enroll()
            let signIn = try phone.startSignIn()
            let id = try #require(try await phone.pendingRequest()["id"]?.stringValue)
            let arguments = ["phone", "deny", id] + (isSuspicious ? ["--suspicious"] : [])
            let denied = try await Command.run(arguments, environment: phone.environment)
            #expect(denied.output == (isSuspicious ? "Denied, and reported as suspicious.\n" : "Denied.\n"), "\(denied.errors)")
            let (status, text) = await signIn.end()
            #expect(status == 2)
            #expect(text.hasPrefix("Waiting for your approval on your phone.\n"))
            #expect(text.contains("The sign-in was rejected on the device."))
            #expect(try await phone.credentials() == [])
            let again = try await phone.run("phone", "approve", id)
            #expect(again.status == 1)
            #expect(again.errors.contains("There is no pending request \(id)."))
        }
    }

    @Test("A sign-in with a number challenge completes only if the user picks the shown number on the phone", .timeLimit(.minutes(5)))
    func numbers() async throws {
        try await PhoneFixture.with(numbers: true) { phone in
            try await phone.enroll()
            for isRight in [false, true] {
                let signIn = try phone.startSignIn()
                try await signIn.waitFor("Pick the number ")
                let number = String(try await signIn.waitFor(" on your phone.").prefix { $0.isNumber })
                let request = try await phone.pendingRequest()
                let (id, choices) = (try #require(request["id"]?.stringValue), try #require(request["numbers"]?.stringArrayValue))
                #expect(choices.count == 3 && choices.contains(number))
                let without = try await phone.run("phone", "approve", id)
                #expect(without.status == 1)
                #expect(
                    without.errors.contains("Approve with the number that the sign-in shows: --number \(choices.joined(separator: ", "))"))
                let invented = try await phone.run("phone", "approve", id, "--number", "100")
                #expect(invented.status == 1)
                #expect(invented.errors.contains("100 is not one of the numbers of this request"))

                let picked = try #require(choices.first { ($0 == number) == isRight })
                let answered = try await phone.run("phone", "approve", id, "--number", picked)
                let (status, text) = await signIn.end()
                #expect(answered.status == (isRight ? 0 : 2), "\(answered.errors)")
                #expect(answered.errors.contains("another number was picked") == !isRight)
                #expect(status == (isRight ? 0 : 2), "\(text)")
                #expect(try await phone.credentials().count == (isRight ? 1 : 0))
            }
        }
    }

    @Test(
        "If user verification is required, countersign phone approve requires the PIN, and a wrong PIN fails the sign-in",
        .timeLimit(.minutes(5)))
    func pins() async throws {
        try await PhoneFixture.with(verifiesUser: true) { phone in
            let issuer = phone.sandbox.issuer.absoluteString
            let without = try await phone.run(
                "phone", "enroll", PhoneFixture.jane, "--org", issuer, input: PhoneFixture.password + "\n")
            #expect(without.status == 2)
            #expect(without.errors.contains("Enroll with --user-verification"))
            #expect(try await phone.enroll(pin: "2580")["user_verification"] == true)
            for pin in ["0000", "2580"] {
                let signIn = try phone.startSignIn()
                let id = try #require(try await phone.pendingRequest()["id"]?.stringValue)
                let answered = try await phone.run("phone", "approve", id, input: pin + "\n")
                let (status, text) = await signIn.end()
                let isRight = pin == "2580"
                #expect(answered.status == (isRight ? 0 : 2), "\(answered.errors)")
                #expect(answered.errors.contains("The PIN is wrong, so the sign-in was not approved.") == !isRight)
                #expect(status == (isRight ? 0 : 2), "\(text)")
            }
        }
    }

    @Test(
        "If Ctrl-C cancels a sign-in, the listening phone reports that the request is no longer pending, and no credential is stored",
        .timeLimit(.minutes(5)))
    func cancellation() async throws {
        try await PhoneFixture.with { phone in
            try await phone.enroll()
            let before = phone.sandbox.count(.revoke)
            let listener = try phone.start("phone", "listen", "--interval", "1", "--json")
            try await listener.waitFor("Listening for")
            let signIn = try phone.startSignIn()
            let event = try await listener.waitFor("\n{").isEmpty ? "" : try await listener.waitFor("}\n")
            let request = try JSONValue(parsing: "{" + event.trimmingCharacters(in: .newlines))
            #expect(request["event"] == "request")
            signIn.interrupt()
            let (status, text) = await signIn.end()
            #expect(status == 130)
            #expect(text.hasSuffix("countersign: Cancelled.\n"))
            // The sandbox counts the revocation before the command exits.
            #expect(phone.sandbox.count(.revoke) == before + 1)
            let id = try #require(request["id"]?.stringValue)
            try await listener.waitFor(#"{"event":"over","id":"\#(id)"}"#)
            #expect(try await phone.run("phone", "approve", id).status == 1)
            #expect(try await phone.credentials() == [])
            listener.interrupt()
            #expect(await listener.end().status == 0)
        }
    }

    @Test(
        "At the terminal, the sign-in command does not echo the password, and countersign phone listen asks the user to approve each request",
        .timeLimit(.minutes(5)))
    func terminal() async throws {
        try await PhoneFixture.with { phone in
            try await phone.enroll()
            let listener = try phone.start("phone", "listen", "--interval", "1", connection: .terminal)
            try await listener.waitFor("Listening for")
            let signIn = try phone.startSignIn(connection: .terminal)
            try await signIn.waitFor("Password for \(PhoneFixture.jane): ")
            try signIn.type(PhoneFixture.password)
            try await listener.waitFor("wants to sign you in")
            try await listener.waitFor("[l]ater: ")
            // After an invalid input, the command asks again.
            try listener.type("perhaps")
            try await listener.waitFor("[l]ater: ")
            try listener.type("y")
            try await listener.waitFor("Approved.")
            let (status, text) = await signIn.end()
            #expect(status == 0, "\(text)")
            #expect(text.contains("Signed in as \(PhoneFixture.jane)"))
            #expect(!text.contains(PhoneFixture.password))

            // The command stops asking about a sign-in that is cancelled in the meantime.
            let other = try phone.startSignIn(connection: .terminal)
            try await other.waitFor("Password for")
            try other.type(PhoneFixture.password)
            try await listener.waitFor("[l]ater: ")
            other.interrupt()
            #expect(await other.end().status == 130)
            try await listener.waitFor("is no longer pending: it was answered, cancelled or has expired.")
            listener.interrupt()
            #expect(await listener.end().status == 0)
        }
    }

    @Test("Ctrl-C at the password prompt ends the sign-in command before any token request", .timeLimit(.minutes(5)))
    func interruptedPrompt() async throws {
        try await PhoneFixture.with { phone in
            let signIn = try phone.startSignIn(connection: .terminal)
            try await signIn.waitFor("Password for")
            signIn.interrupt()
            let (status, text) = await signIn.end()
            #expect(status == 130)
            #expect(text.contains("Cancelled."))
            #expect(phone.sandbox.count(.token) == 0)
        }
    }

    @Test(
        "countersign phone remove requires an approved sign-in, and with --here removes the account only from the phone",
        .timeLimit(.minutes(5)))
    func removal() async throws {
        try await PhoneFixture.with { phone in
            try await phone.enroll()
            let removal = try phone.start("phone", "remove", connection: .input(PhoneFixture.password + "\n"))
            let request = try await phone.pendingRequest()
            #expect(request["application"] == "Phone App")
            #expect(try await phone.run("phone", "approve", try #require(request["id"]?.stringValue)).status == 0)
            let (status, text) = await removal.end()
            #expect(status == 0, "\(text)")
            #expect(text.contains("Removed "))
            #expect(try await phone.run("phone", "list").errors.contains("has no accounts."))
            // The server has deleted the enrollment too, so the password alone is enough to enroll again.
            let id = try #require(try await phone.enroll()["id"]?.stringValue)
            let here = try await phone.run("phone", "remove", id, "--here")
            #expect(here.output == "Removed \(id), here alone.\n")
            let signIn = try phone.startSignIn()
            try await signIn.waitFor("Waiting for your approval")
            signIn.interrupt()
            #expect(await signIn.end().status == 130)
        }
    }
}
