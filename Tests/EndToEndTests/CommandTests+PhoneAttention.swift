import CountersignSandbox
import Foundation
import JOSE
import TestSupport
import Testing

/// Tests that a phone in a terminal approves only the request that the user has seen.
extension CommandTests {
    @Test("countersign phone listen ignores input that the user typed before a request was shown", .timeLimit(.minutes(5)))
    func typedAhead() async throws {
        try await PhoneFixture.with { phone in
            try await phone.enroll()
            let listener = try phone.start("phone", "listen", "--interval", "1", connection: .terminal)
            try await listener.waitFor("Listening for")
            try listener.type("y")
            // The terminal echoes a line as soon as it has queued the line for the command.
            try await listener.waitFor("y\r\n")
            let signIn = try phone.startSignIn()
            try await listener.waitFor("[l]ater: ")
            try listener.type("n")
            let answer = try await listener.waitFor("ed.")
            #expect(answer.contains("Denied."), "\(answer)")
            let (status, text) = await signIn.end()
            #expect(status == 2, "\(text)")
            listener.interrupt()
            #expect(await listener.end().status == 0)
        }
    }

    @Test(
        "countersign phone remove asks about its own sign-in request and later requests, but not about earlier requests",
        .timeLimit(.minutes(5)))
    func ownSignIn() async throws {
        try await PhoneFixture.with { phone in
            try await phone.enroll()
            let earlier = try phone.startSignIn()
            let first = try #require(try await phone.pendingRequest()["id"]?.stringValue)
            let removal = try phone.start("phone", "remove", connection: .terminal)
            try await removal.waitFor("Password of \(PhoneFixture.jane)")
            try removal.type(PhoneFixture.password)
            let shown = try await removal.waitFor("[l]ater: ")
            try #require(shown.contains("Phone App wants to sign you in") && !shown.contains(first), "\(shown)")
            // Another request arrives while the user considers the first one. The command then shows the other request.
            try removal.type("l")
            let later = try phone.startSignIn()
            let next = try await removal.waitFor("[l]ater: ")
            #expect(next.contains("Portal wants to sign you in") && !next.contains(first), "\(next)")
            try removal.type("n")
            try await removal.waitFor("Denied.")
            #expect(await later.end().status == 2)
            let own = try #require(
                try await phone.run("phone", "pending", "--json").output.firstMatch(of: #/"application":"Phone App"[^}]*?"id":"(\w+)"/#)?.1)
            #expect(try await phone.run("phone", "approve", String(own)).status == 0)
            let (status, text) = await removal.end()
            #expect(status == 0, "\(text)")
            earlier.interrupt()
            #expect(await earlier.end().status == 130)
        }
    }

    @Test(
        "countersign phone approve verifies and shows a request before the approval, even if the list could not verify the request",
        .timeLimit(.minutes(5)))
    func shownBeforeApproval() async throws {
        try await PhoneFixture.with { phone in
            try await phone.enroll()
            try await phone.sandbox.rotateKeys()
            let signIn = try phone.startSignIn()
            try await signIn.waitFor("Waiting for your approval")
            // The list cannot be verified while the key set is unavailable.
            phone.sandbox.inject(Fault(.status(503), at: .keys))
            let approved = try await phone.run("phone", "approve", "ft")
            #expect(approved.status == 0 && approved.output == "Approved.\n", "\(approved.errors)")
            #expect(phone.sandbox.pendingFaults.isEmpty)
            #expect(approved.errors.contains("Portal wants to sign you in"), "\(approved.errors)")
            #expect(await signIn.end().status == 0)
        }
    }

    @Test("A line break in an application's name does not add a line to the PIN prompt", .timeLimit(.minutes(5)))
    func pinPrompt() async throws {
        try await PhoneFixture.with(verifiesUser: true, portal: #""Portal\nNothing to approve""#) { phone in
            try await phone.enroll(pin: "2580")
            let signIn = try phone.startSignIn()
            let id = try #require(try await phone.pendingRequest()["id"]?.stringValue)
            let approval = try phone.start("phone", "approve", id, connection: .terminal)
            try await approval.waitFor("PIN (")
            let rest = try await approval.waitFor("): ")
            #expect(rest == "Sign in to Portal Nothing to approve): ")
            try approval.type("2580")
            #expect(await approval.end().status == 0)
            #expect(await signIn.end().status == 0)
        }
    }

    @Test(
        "After Ctrl-C during the password check, countersign revokes the tokens or the transaction that the server still created, and then exits",
        .timeLimit(.minutes(5)),
        arguments: [("password-app", 2), ("directauth-app", 1)])
    func cancelledStart(clientID: String, revocations: Int) async throws {
        try await withSandbox { sandbox in
            _ = try await sandbox.phone(for: PhoneFixture.jane)
            let before = sandbox.count(.revoke)
            let phone = try PhoneFixture(sandbox)
            sandbox.inject(Fault(.delay(0.5), at: .token))
            let signIn = try phone.start(
                "sign-in", "direct", PhoneFixture.jane, "--issuer", sandbox.issuer.absoluteString, "--client-id", clientID,
                connection: .input(PhoneFixture.password + "\n"))
            while !sandbox.pendingFaults.isEmpty { await Task.yield() }
            signIn.interrupt()
            let (status, text) = await signIn.end()
            #expect(status == 130 && text.hasSuffix("countersign: Cancelled.\n"), "\(text)")
            #expect(sandbox.count(.revoke) == before + revocations)
            #expect(try await phone.credentials() == [])
        }
    }
}
