import CountersignSandbox
import Foundation
import TestSupport
import Testing

/// Tests that each error of the phone commands tells the user what to do next.
extension CommandTests {
    @Test(
        "On a phone without accounts, each phone command fails and prints how to enroll an account",
        arguments: [["listen"], ["pending"], ["approve", "x"], ["deny", "x"], ["remove"]])
    func notEnrolled(_ arguments: [String]) async throws {
        let folder = try TemporaryFolder()
        let ended = try await Command.run(["phone"] + arguments, environment: ["COUNTERSIGN_PHONE": folder.path + "phone"])
        #expect(ended.status == 1)
        #expect(ended.errors.contains("The phone in \(folder.path)phone/ has no accounts"))
        #expect(ended.errors.contains("countersign phone enroll jane.doe@example.com"))
    }

    @Test(
        "countersign phone enroll exits with status 3 for an unreachable organization, and with status 2 for a wrong password",
        .timeLimit(.minutes(5)))
    func enrollmentErrors() async throws {
        try await PhoneFixture.with { phone in
            let unknown = try await phone.run(
                "phone", "enroll", PhoneFixture.jane, "--issuer", "http://localhost:1", input: PhoneFixture.password + "\n")
            #expect(unknown.status == 3)
            #expect(unknown.errors.contains("localhost can't be reached."))
            let wrong = try await phone.run(
                "phone", "enroll", PhoneFixture.jane, "--issuer", phone.sandbox.issuer.absoluteString, input: "wrong-password\n")
            #expect(wrong.status == 2)
            #expect(wrong.errors.contains("invalid_grant") && !wrong.errors.contains("wrong-password"))
            #expect(try await phone.run("phone", "list", "--json").output == #"{"enrollments":[]}"# + "\n")
        }
    }

    @Test(
        "If the organization is unreachable, phone pending and phone remove exit with 3, and the account stays on the phone",
        .timeLimit(.minutes(5)))
    func lostOrganization() async throws {
        let folder = try TemporaryFolder()
        let environment = ["COUNTERSIGN_PHONE": folder.path + "phone"]
        try await withSandbox { sandbox in
            let ended = try await Command.run(
                ["phone", "enroll", PhoneFixture.jane, "--org", sandbox.origin.absoluteString], input: PhoneFixture.password + "\n",
                environment: environment)
            #expect(ended.status == 0, "\(ended.errors)")
            #expect(ended.errors.contains("A terminal has no push token"))
        }
        let pending = try await Command.run(["phone", "pending"], environment: environment)
        #expect(pending.status == 3)
        #expect(pending.errors.contains("The server can't be reached"))
        let removal = try await Command.run(["phone", "remove"], input: PhoneFixture.password + "\n", environment: environment)
        #expect(removal.status == 3)
        #expect(try await Command.run(["phone", "list"], environment: environment).output.contains(PhoneFixture.jane))
    }

    @Test(
        "If the user has no phone, countersign sign-in direct fails and reports that no second factor can be used", .timeLimit(.minutes(5)))
    func noPhone() async throws {
        try await PhoneFixture.with { phone in
            let (status, text) = await (try phone.startSignIn()).end()
            #expect(status == 2)
            #expect(text.contains("This application needs a second factor, and none can be used."), "\(text)")
            #expect(try await phone.credentials() == [])
        }
    }

    @Test(
        "If an application requires two factors, countersign sign-in password fails and names countersign sign-in direct",
        .timeLimit(.minutes(5))
    )
    func passwordAlone() async throws {
        try await PhoneFixture.with { phone in
            try await phone.enroll()
            let ended = try await phone.run(
                "sign-in", "password", PhoneFixture.jane, "--client-id", "directauth-app", "--issuer", phone.sandbox.issuer.absoluteString,
                input: PhoneFixture.password + "\n")
            #expect(ended.status == 1)
            #expect(ended.errors.contains("Use `countersign sign-in direct`."))
        }
    }

    @Test(
        "A phone command with invalid arguments exits with status 64",
        arguments: [
            ["phone", "listen", "--interval", "0"], ["phone", "pending", "--wait", "3601"], ["phone", "approve"],
            ["phone", "enroll", "jane", "--password", "x"], ["phone", "approve", "x", "--pin", "1234"],
        ])
    func wrongPhoneArguments(_ arguments: [String]) async throws {
        #expect(try await Command.run(arguments).status == 64)
    }
}
