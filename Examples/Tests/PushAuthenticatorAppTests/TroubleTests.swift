import CountersignSandbox
import CountersignUI
import ExampleTestSupport
import Foundation
import Testing

@testable import PushAuthenticatorApp

@MainActor
@Suite("Failures in the push authenticator app", .timeLimit(.minutes(5)))
struct TroubleTests {
    @Test("If the connection breaks, a fetch or a settings change shows an error and changes nothing, and succeeds when repeated later")
    func offline() async throws {
        try await withSandbox { sandbox in
            let visit = try PhoneVisit(sandbox)
            try await visit.enroll()
            let model = visit.model
            let id = try #require(model.accounts.first?.id)
            let signIn = try await visit.signInElsewhere()
            let request = try await visit.request()
            sandbox.inject(Fault(.dropConnectionBeforeCommit, at: .any, count: 1000))
            await model.retrieve()
            #expect(model.errorMessage?.isEmpty == false && model.notice == nil && !model.isLoading)
            #expect(model.requestModel.requests == [request], "What was fetched before still waits.")
            await model.setCIBA(true, of: id)
            #expect(model.errorMessage?.isEmpty == false && model.account(id)?.answersCIBA == false && !model.isLoading)
            model.clearMessages()
            await model.didBecomeActive()
            #expect(model.errorMessage == nil && model.requestModel.requests == [request], "The user did not start this action.")
            await model.updatePushToken(Data([1]))
            #expect(model.errorMessage?.isEmpty == false)
            model.begin(.enroll)
            await visit.submit()
            #expect(model.errorMessage?.isEmpty == false && model.front == .change(.enroll) && model.progress == nil)
            model.cancelChange()

            sandbox.clearFaults()
            await model.retrieve()
            #expect(model.errorMessage == nil && model.requestModel.requests == [request])
            await model.setCIBA(true, of: id)
            #expect(model.errorMessage == nil && model.account(id)?.answersCIBA == true)
            signIn.cancel()
        }
    }

    @Test(
        "If the requests of one account cannot be fetched, the account's known requests stay, and the requests of other accounts are fetched"
    )
    func partlyOffline() async throws {
        try await withSandbox { sandbox in
            let visit = try PhoneVisit(sandbox)
            let model = visit.model
            try await visit.enroll()
            try await visit.enroll(.john)
            let signIns = [try await visit.signInElsewhere(), try await visit.signInElsewhere(of: .john)]
            let isComplete = await eventually {
                await model.didBecomeActive()
                return model.requestModel.requests.count == 2
            }
            try #require(isComplete)
            let requests = model.requestModel.requests
            sandbox.inject(Fault(.dropConnectionBeforeCommit, at: "notifications"))
            await model.didBecomeActive()
            #expect(sandbox.pendingFaults.isEmpty && model.requestModel.requests == requests && model.errorMessage == nil)
            sandbox.inject(Fault(.dropConnectionBeforeCommit, at: "notifications"))
            await model.retrieve()
            #expect(sandbox.pendingFaults.isEmpty && model.requestModel.requests == requests && model.errorMessage?.isEmpty == false)
            for request in requests {
                await model.requestModel.approve(try await visit.read(request.id).id)
                #expect(model.errorMessage == nil)
            }
            for signIn in signIns { #expect(try await signIn.outcome() == .tokens) }
            // The request for one account succeeds without pending requests; the request for the other account fails.
            sandbox.inject(Fault(.dropConnectionBeforeCommit, at: "notifications"))
            await model.retrieve()
            #expect(model.requestModel.requests.isEmpty && model.notice == nil && model.errorMessage?.isEmpty == false)
        }
    }

    @Test("The push authenticator app shows an account as suspended until the account is reactivated")
    func suspended() async throws {
        try await withSandbox { sandbox in
            let visit = try PhoneVisit(sandbox)
            try await visit.enroll()
            let id = try #require(visit.model.accounts.first?.id)
            await visit.model.setCIBA(true, of: id)
            var jane = PhoneVisit.jane
            jane.status = .suspended
            try await sandbox.add(jane)
            await visit.model.setCIBA(false, of: id)
            let account = try #require(visit.model.accounts.first)
            #expect(account.trouble == "Suspended by the organization" && visit.model.errorMessage?.isEmpty == false)
            #expect(AccountText.detail(of: account).hasSuffix(" · Suspended by the organization"))
            jane.status = .active
            try await sandbox.add(jane)
            await visit.model.setCIBA(false, of: id)
            #expect(visit.model.accounts.first?.trouble == nil && visit.model.errorMessage == nil)
        }
    }

    @Test("The push authenticator app shows that the organization deleted an account, and the user can remove the account from the device")
    func removedElsewhere() async throws {
        try await withSandbox { sandbox in
            let visit = try PhoneVisit(sandbox)
            try await visit.enroll()
            await visit.model.setCIBA(true, of: try #require(visit.model.accounts.first?.id))
            let copy = try visit.copy()
            let app = try await sandbox.authenticatorApp(for: PhoneVisit.jane.login)
            copy.model.begin(.remove(try #require(copy.model.accounts.first?.id)))
            await copy.submit(code: app.code)
            #expect(copy.model.accounts.isEmpty, "\(copy.model.errorMessage ?? "")")
            await visit.model.setCIBA(false, of: try #require(visit.model.accounts.first?.id))
            let account = try #require(visit.model.accounts.first)
            #expect(account.trouble == "Deleted by the organization. Remove it here" && visit.model.errorMessage?.isEmpty == false)
            await visit.model.removeFromDevice(account.id)
            #expect(visit.model.accounts.isEmpty && visit.model.notice == "The account was removed from this device.")
        }
    }

    @Test("While an operation runs in the push authenticator app, no button starts another operation")
    func busy() async throws {
        try await withSandbox { sandbox in
            let visit = try PhoneVisit(sandbox)
            try await visit.enroll()
            let model = visit.model
            let id = try #require(model.accounts.first?.id)
            sandbox.inject(Fault(.delay(5), at: .any))
            async let fetched: Void = model.retrieve()
            #expect(await eventually { model.isLoading && sandbox.pendingFaults.isEmpty })
            let requests = sandbox.requests.count
            await model.setCIBA(true, of: id)
            await model.retrieve()
            await model.didBecomeActive()
            model.removing = id
            await model.removeFromDevice(id)
            #expect(model.removing == id, "What was confirmed too early is still asked.")
            #expect(model.isLoading && sandbox.requests.count == requests && model.account(id)?.answersCIBA == false)
            #expect(await sandbox.moveOn(by: 5) { !model.isLoading })
            await fetched
            #expect(model.notice == "No requests" && model.errorMessage == nil)
            await model.removeFromDevice(id)
            #expect(model.accounts.isEmpty && model.removing == nil)
        }
    }

    @Test("If the user presses a form's buttons again while the form is being sent, only one account is added")
    func submittedTwice() async throws {
        try await withSandbox { sandbox in
            let visit = try PhoneVisit(sandbox)
            let model = visit.model
            model.begin(.enroll)
            sandbox.inject(Fault(.delay(5), at: .any))
            async let submitted: Void = visit.submit()
            #expect(await eventually { model.progress == .signingIn && sandbox.pendingFaults.isEmpty })
            #expect(!model.canSubmit)
            model.link = "https://id.example.com/enroll/a#client_id=c&ticket=t"
            #expect(!model.canUseLink)
            await model.submit()
            await model.submitLink()
            model.begin(.enroll)
            #expect(model.form.userName == PhoneVisit.jane.login && model.errorMessage == nil)
            #expect(await sandbox.moveOn(by: 5) { model.progress == nil })
            await submitted
            #expect(model.accounts.count == 1 && model.change == nil, "\(model.errorMessage ?? "")")
            #expect(sandbox.requests.count { $0.grantType == "password" } == 1)
        }
    }
}
