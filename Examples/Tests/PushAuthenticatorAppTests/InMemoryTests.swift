import ExampleTestSupport
import Testing

@testable import PushAuthenticatorApp

@MainActor
@Suite("Preview service of the push authenticator app")
struct InMemoryTests {
    @Test("The preview service of the push authenticator app handles every button")
    func buttons() async throws {
        let request = ApprovalRequest.sample(numbers: ["17", "42"])
        let model = AuthenticatorViewModel(service: InMemoryAuthenticatorService([], requests: [request]))
        model.begin(.enroll)
        model.form.username = "jane.doe@example.com"
        model.form.password = "any"
        await model.submit()
        let id = try #require(model.accounts.first?.id)
        #expect(model.accounts == [.sample()])
        await model.retrieve()
        #expect(model.requests == [request] && model.account(request.accountID) != nil)
        await model.answer(request.id, .approve(number: "17"))
        #expect(model.requests.isEmpty && model.notice == "Approved.")
        await model.setCIBA(true, of: id)
        model.begin(.userVerification(true, of: id))
        model.form.password = "any"
        await model.submit()
        #expect(model.accounts == [.sample(verifiesUser: true, answersCIBA: true)])
        model.begin(.enroll)
        model.link = "any"
        await model.submitLink()
        #expect(model.accounts.count == 2)
        await model.removeFromDevice(id)
        model.begin(.remove(try #require(model.accounts.first?.id)))
        model.form.password = "any"
        await model.submit()
        #expect(model.accounts.isEmpty)
    }

    @Test("The preview service of the push authenticator app can wait for another phone until the wait is cancelled")
    func waiting() async throws {
        let model = AuthenticatorViewModel(service: InMemoryAuthenticatorService([.sample()], number: "42"))
        let progress = History { model.progress }
        model.begin(.remove(Account.sample().id))
        model.form.password = "any"
        async let submitted: Void = model.submit()
        #expect(await eventually { model.progress == .waitingForApproval(number: "42") })
        await model.leave()
        await submitted
        #expect(model.accounts == [.sample()] && model.front == .home && model.errorMessage == nil)
        #expect(progress.values == [nil, .signingIn, .waitingForApproval(number: "42"), nil])
    }
}
