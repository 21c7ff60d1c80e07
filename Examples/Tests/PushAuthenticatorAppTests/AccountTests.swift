import CountersignSandbox
import CountersignUI
import DeviceAuthenticator
import ExampleTestSupport
import Foundation
import Testing

@testable import PushAuthenticatorApp

@MainActor
@Suite("Accounts of the push authenticator app", .timeLimit(.minutes(5)))
struct AccountTests {
    @Test("The push authenticator app adds an account after a sign-in, and keeps the account across a restart")
    func enroll() async throws {
        try await withSandbox { sandbox in
            let visit = try PhoneVisit(sandbox)
            #expect(visit.model.accounts.isEmpty && !visit.model.canSubmit)
            visit.model.begin(.enroll)
            #expect(!visit.model.canSubmit)
            await visit.submit()
            #expect(visit.model.change == nil && visit.model.progress == nil && visit.model.errorMessage == nil)
            #expect(visit.model.notice == "jane.doe@example.com was added." && visit.model.form == SignInForm())
            try visit.reopen()
            let account = try #require(visit.model.accounts.first)
            #expect(account.organization == sandbox.origin && !account.verifiesUser && !account.answersCIBA && account.trouble == nil)
            // The app has revoked its token.
            #expect(sandbox.requests.count { $0.endpoint == .revoke && $0.status == 200 } >= 1)
        }
    }

    @Test("After a wrong password, the push authenticator app shows an error, keeps the form open and clears the password field")
    func wrongPassword() async throws {
        try await withSandbox { sandbox in
            let visit = try PhoneVisit(sandbox)
            visit.model.begin(.enroll)
            await visit.submit(password: "wrong")
            #expect(visit.model.change == .enroll && visit.model.errorMessage?.isEmpty == false && visit.model.progress == nil)
            #expect(visit.model.form.password.isEmpty && visit.model.form.userName == PhoneVisit.jane.login)
            #expect(visit.model.accounts.isEmpty)
            visit.model.cancelChange()
            #expect(visit.model.front == .home && visit.model.errorMessage == nil)
        }
    }

    @Test("Adding an account with user verification requires a new PIN of at least 4 characters")
    func userVerification() async throws {
        try await withSandbox { sandbox in
            let visit = try PhoneVisit(sandbox)
            visit.model.begin(.enroll)
            visit.model.wantsUserVerification = true
            async let submitted: Void = visit.submit()
            #expect(await eventually { visit.pin.question?.isNew == true })
            visit.pin.pin = "12"
            visit.pin.submit()
            #expect(visit.pin.question != nil && visit.pin.errorMessage == "A PIN has at least 4 characters.")
            visit.pin.pin = "1234"
            visit.pin.submit()
            await submitted
            #expect(visit.model.accounts.first?.verifiesUser == true, "\(visit.model.errorMessage ?? "")")
        }
    }

    @Test("If the user cancels the input of the PIN, no account with user verification is added")
    func noPIN() async throws {
        try await withSandbox { sandbox in
            let visit = try PhoneVisit(sandbox)
            visit.model.begin(.enroll)
            visit.model.wantsUserVerification = true
            async let submitted: Void = visit.submit()
            #expect(await eventually { visit.pin.question != nil })
            visit.pin.cancel()
            await submitted
            #expect(visit.model.accounts.isEmpty && visit.model.errorMessage?.isEmpty == false && visit.pin.question == nil)
        }
    }

    @Test("The user can turn user verification on and off with a sign-in that the same phone approves")
    func settings() async throws {
        try await withSandbox { sandbox in
            let visit = try PhoneVisit(sandbox)
            try await visit.enroll()
            let model = visit.model
            let id = try #require(model.accounts.first?.id)
            for isOn in [true, false] {
                model.openAccount = id
                model.begin(.userVerification(isOn, of: id))
                #expect(model.form.userName == PhoneVisit.jane.login)
                async let submitted: Void = visit.submit()
                #expect(await eventually { model.progress == .waitingForApproval(number: nil) })
                let request = try await visit.request()
                async let answered: Void = model.requestModel.approve(request.id)
                // To turn user verification off, the approval itself asks for the PIN. To turn it on, the new key gets its PIN after the
                // sign-in.
                if !isOn { try await visit.give(pin: "1234") }
                await answered
                visit.letTimePass()
                if isOn { try await visit.give(pin: "1234") }
                await submitted
                #expect(
                    model.account(id)?.verifiesUser == isOn && model.errorMessage == nil && model.change == nil,
                    "\(model.errorMessage ?? "")")
                #expect(model.openAccount == id)
            }
        }
    }

    @Test("The user can turn back-channel requests on and off without a sign-in")
    func ciba() async throws {
        try await withSandbox { sandbox in
            let visit = try PhoneVisit(sandbox)
            try await visit.enroll()
            let id = try #require(visit.model.accounts.first?.id)
            for isOn in [true, false] {
                await visit.model.setCIBA(isOn, of: id)
                #expect(visit.model.account(id)?.answersCIBA == isOn && visit.model.errorMessage == nil && !visit.model.isLoading)
            }
        }
    }

    @Test("The push authenticator app removes an account after a sign-in, and keeps the account while the organization is unreachable")
    func remove() async throws {
        try await withSandbox { sandbox in
            let visit = try PhoneVisit(sandbox)
            try await visit.enroll()
            let app = try await sandbox.authenticatorApp(for: PhoneVisit.jane.login)
            let id = try #require(visit.model.accounts.first?.id)
            visit.model.begin(.remove(id))
            sandbox.inject(Fault(.dropConnectionBeforeCommit, at: .any, count: 100))
            await visit.submit(code: app.code)
            #expect(visit.model.account(id) != nil && visit.model.errorMessage?.isEmpty == false && visit.model.change == .remove(id))
            sandbox.clearFaults()
            await visit.submit(code: app.code)
            #expect(visit.model.accounts.isEmpty && visit.model.notice == "The account was removed.", "\(visit.model.errorMessage ?? "")")
            try visit.reopen()
            #expect(visit.model.accounts.isEmpty)
        }
    }

    @Test("Removing an account only from the device needs a confirmation, and sends no request to the organization")
    func removeFromDevice() async throws {
        try await withSandbox { sandbox in
            let visit = try PhoneVisit(sandbox)
            try await visit.enroll()
            let id = try #require(visit.model.accounts.first?.id)
            let requests = sandbox.requests.count
            visit.model.openAccount = id
            visit.model.removing = id
            #expect(visit.model.accounts.count == 1)
            async let removed: Void = visit.model.removeFromDevice(id)
            // The alert is closed before its button's action runs.
            visit.model.removing = nil
            await removed
            #expect(visit.model.accounts.isEmpty && visit.model.openAccount == nil && sandbox.requests.count == requests)
        }
    }

    @Test("If the user cancels an account's removal that waits for approval, the account is kept, and no request stays pending")
    func cancelledChange() async throws {
        try await withSandbox { sandbox in
            let visit = try PhoneVisit(sandbox)
            try await visit.enroll()
            let id = try #require(visit.model.accounts.first?.id)
            visit.model.begin(.remove(id))
            async let submitted: Void = visit.submit()
            let request = try await visit.request()
            visit.model.cancelChange()
            await submitted
            #expect(visit.model.change == nil && visit.model.errorMessage == nil && visit.model.accounts.count == 1)
            #expect(
                await eventually {
                    await visit.model.retrieve()
                    return visit.model.requestModel.requests.isEmpty
                })
            await visit.model.requestModel.approve(request.id)
            #expect(visit.model.accounts.count == 1)
        }
    }

    @Test("If the user quits while an account's removal waits for approval, the app first withdraws the request and keeps the account")
    func leave() async throws {
        try await withSandbox { sandbox in
            let visit = try PhoneVisit(sandbox)
            try await visit.enroll()
            let id = try #require(visit.model.accounts.first?.id)
            visit.model.begin(.remove(id))
            async let submitted: Void = visit.submit()
            _ = try await visit.request()
            let revoked = sandbox.requests.count { $0.endpoint == .revoke }
            await visit.model.leave()
            #expect(sandbox.requests.count { $0.endpoint == .revoke && $0.status == 200 } == revoked + 1)
            await submitted
            #expect(visit.model.change == nil && visit.model.accounts.count == 1)
            await visit.model.retrieve()
            #expect(visit.model.requestModel.requests.isEmpty && visit.model.notice == "No requests")
        }
    }

    @Test("The push authenticator app rejects a text that is not an enrollment QR code with an error text")
    func badLink() async throws {
        try await withSandbox { sandbox in
            let visit = try PhoneVisit(sandbox)
            visit.model.begin(.enroll)
            #expect(!visit.model.canUseLink)
            visit.model.link = "https://id.example.com/"
            await visit.model.submitLink()
            #expect(visit.model.errorMessage?.hasPrefix("This is not a setup code.") == true && visit.model.change == .enroll)
        }
    }
}
