import CountersignSandbox
import CountersignUI
import DeviceAuthenticator
import ExampleTestSupport
import Foundation
import Testing
import Wording

@testable import PushAuthenticatorApp

@MainActor
@Suite("Requests in the push authenticator app", .timeLimit(.minutes(5)))
struct RequestTests {
    @Test("A push request shows the app, the place and the time, and an approval completes the sign-in")
    func approve() async throws {
        try await withSandbox { sandbox in
            let visit = try PhoneVisit(sandbox)
            try await visit.enroll()
            let model = visit.model
            await model.retrieve()
            #expect(model.requestModel.requests.isEmpty && model.notice == "No requests")
            let signIn = try await visit.signInElsewhere()
            let request = try await visit.request()
            #expect(texts.question(of: request) == "Are you trying to sign in to Direct Authentication App?" && request.isVerified)
            #expect(
                texts.details(of: request).map(\.label) == ["Account", "Organization", "Place", "System", "Time"] && request.numbers == nil)
            await model.requestModel.approve(request.id)
            #expect(
                model.requestModel.requests.isEmpty && model.notice == "Approved" && model.errorMessage == nil
                    && model.requestModel.answering == nil)
            #expect(try await signIn.outcome() == .tokens)
        }
    }

    @Test("If the user picks a wrong number in the push authenticator app, the sign-in fails with access_denied")
    func wrongNumber() async throws {
        try await withSandbox(.withNumbers) { sandbox in
            let visit = try PhoneVisit(sandbox)
            try await visit.enroll()
            let (numbers, entrance) = AsyncStream.makeStream(of: String.self)
            let signIn = try await visit.signInElsewhere(numbers: entrance)
            let number = try #require(await numbers.first())
            let request = try await visit.request()
            let wrong = try #require(request.numbers?.first { $0 != number })
            await visit.model.requestModel.approve(request.id, number: wrong)
            #expect(visit.model.requestModel.requests.isEmpty && visit.model.errorMessage == "This request is no longer pending.")
            #expect(try await signIn.outcome() == .refused("access_denied"))
        }
    }

    @Test(
        "If user verification is preferred, an approval with a wrong PIN still signs the user in, and the app reports the failed verification"
    )
    func wrongPIN() async throws {
        try await withSandbox { sandbox in
            let visit = try PhoneVisit(sandbox)
            try await visit.enroll(verifiesUser: true)
            let signIn = try await visit.signInElsewhere()
            let request = try await visit.request()
            async let answered: Void = visit.model.requestModel.approve(request.id)
            #expect(await eventually { visit.pin.question?.isNew == false })
            #expect(visit.model.pinReason == "Are you trying to sign in to Direct Authentication App?")
            try await visit.give(pin: "9999")
            await answered
            #expect(visit.model.notice == "Approved. You could not be verified, and your organization was notified.")
            #expect(visit.model.errorMessage == nil && visit.model.requestModel.requests.isEmpty)
            #expect(try await signIn.outcome() == .tokens)
        }
    }

    @Test("If the user cancels the PIN, the sign-in fails and the app shows the reason, even if user verification is only preferred")
    func unverified() async throws {
        try await withSandbox { sandbox in
            let visit = try PhoneVisit(sandbox)
            try await visit.enroll(verifiesUser: true)
            let signIn = try await visit.signInElsewhere()
            let request = try await visit.request()
            async let answered: Void = visit.model.requestModel.approve(request.id)
            #expect(await eventually { visit.pin.question?.isNew == false })
            visit.pin.cancel()
            await answered
            #expect(visit.model.notice == nil && visit.model.requestModel.requests.isEmpty)
            #expect(
                visit.model.errorMessage
                    == "You could not be verified, so the request was not approved. Start the sign-in again.")
            #expect(try await signIn.outcome() == .refused("access_denied"))
        }
    }

    @Test(
        "If a request was answered elsewhere, the app shows an error at a response, and removes the request at the next fetch",
        arguments: [true, false])
    func answeredElsewhere(isAnsweredHere: Bool) async throws {
        try await withSandbox { sandbox in
            let visit = try PhoneVisit(sandbox)
            try await visit.enroll()
            let here = visit.model
            let signIn = try await visit.signInElsewhere()
            let request = try await visit.request()
            try visit.reopen()
            _ = try await visit.request()
            await visit.model.requestModel.deny(request.id)
            #expect(here.requestModel.requests == [request])
            if isAnsweredHere {
                await here.requestModel.approve(request.id)
                #expect(here.errorMessage == "This request is no longer pending.")
            } else {
                await here.retrieve()
                #expect(here.notice == "No requests" && here.errorMessage == nil)
                // The user presses the button too late.
                await here.requestModel.approve(request.id)
                #expect(here.errorMessage == "This request is no longer pending.")
            }
            #expect(here.requestModel.requests.isEmpty)
            #expect(try await signIn.outcome() == .refused("access_denied"))
        }
    }

    @Test("The push authenticator app shows a back-channel request with its message, and after an approval the client gets tokens")
    func backchannel() async throws {
        try await withSandbox(.withBackchannel) { sandbox in
            let visit = try PhoneVisit(sandbox)
            try await visit.enroll()
            let id = try #require(visit.model.accounts.first?.id)
            #expect(try await visit.askAsBank("Pay 10 euros") == nil)
            await visit.model.setCIBA(true, of: id)
            let asked = try #require(try await visit.askAsBank("Pay 10 euros"))
            let request = try await visit.request()
            #expect(texts.question(of: request) == "Bank asks for your approval" && request.isBackchannel)
            let details = texts.details(of: request)
            #expect(details.map(\.label) == ["Account", "Organization", "Message", "Place", "System", "Time"])
            #expect(details[1].value == sandbox.origin.host() && details[2].value == "Pay 10 euros")
            await visit.model.requestModel.approve(request.id)
            #expect(visit.model.notice == "Approved" && visit.model.requestModel.requests.isEmpty)
            #expect(try await visit.bankHasTokens(asked))
        }
    }

    @Test("Approving an expired request shows an error and removes the request")
    func expired() async throws {
        try await withSandbox { sandbox in
            let visit = try PhoneVisit(sandbox)
            try await visit.enroll()
            let signIn = try await visit.signInElsewhere()
            let request = try await visit.request()
            sandbox.advance(by: 600)
            await visit.model.requestModel.approve(request.id)
            #expect(visit.model.errorMessage?.isEmpty == false)
            #expect(visit.model.requestModel.requests.isEmpty)
            let outcome = try await signIn.outcome()
            #expect(outcome == .tooLate || outcome == .refused("expired_token"), "\(outcome)")
        }
    }

    @Test("While a response to a request is in progress, the push authenticator app sends no second response")
    func busy() async throws {
        try await withSandbox { sandbox in
            let visit = try PhoneVisit(sandbox)
            try await visit.enroll(verifiesUser: true)
            let signIn = try await visit.signInElsewhere()
            let request = try await visit.request()
            async let answered: Void = visit.model.requestModel.approve(request.id)
            #expect(await eventually { visit.pin.question != nil })
            #expect(visit.model.requestModel.answering == request.id)
            await visit.model.requestModel.deny(request.id)
            #expect(visit.model.requestModel.requests.count == 1)
            try await visit.give(pin: "1234")
            await answered
            #expect(try await signIn.outcome() == .tokens)
        }
    }

    @Test("A device that receives no pushes polls for requests")
    func listening() async throws {
        try await withSandbox { sandbox in
            let visit = try PhoneVisit(sandbox)
            try await visit.enroll()
            let model = visit.model
            let listening = Task { await model.listen() }
            let signIn = try await visit.signInElsewhere()
            #expect(await eventually { !model.requestModel.requests.isEmpty })
            await model.requestModel.approve(try await visit.read(try #require(model.requestModel.requests.first).id).id)
            #expect(try await signIn.outcome() == .tokens)
            listening.cancel()
            await listening.value
        }
    }
}
