import CountersignSandbox
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
            #expect(model.requests.isEmpty && model.notice == "No requests")
            let signIn = try await visit.signInElsewhere()
            let request = try await visit.request()
            #expect(request.question == "Direct Authentication App wants to sign you in" && request.isVerified)
            #expect(request.facts().map(\.label) == ["Place", "System", "Time", "Until"] && request.numbers == nil)
            await model.answer(request.id, .approve())
            #expect(model.requests.isEmpty && model.notice == "Approved." && model.errorMessage == nil && model.answering == nil)
            #expect(try await signIn.outcome() == .tokens)
        }
    }

    @Test("If the user denies a request, with or without a report, the sign-in fails with access_denied", arguments: [false, true])
    func deny(isSuspicious: Bool) async throws {
        try await withSandbox { sandbox in
            let visit = try PhoneVisit(sandbox)
            try await visit.enroll()
            let signIn = try await visit.signInElsewhere()
            await visit.model.answer(try await visit.request().id, .deny(isSuspicious: isSuspicious))
            #expect(visit.model.notice == (isSuspicious ? "Denied, and reported as suspicious." : "Denied."))
            #expect(try await signIn.outcome() == .refused("access_denied"))
        }
    }

    @Test("For a number challenge, an approval with the correct number signs the user in, and an approval without a number is not sent")
    func number() async throws {
        try await withSandbox(.withNumbers) { sandbox in
            let visit = try PhoneVisit(sandbox)
            try await visit.enroll()
            let (numbers, entrance) = AsyncStream.makeStream(of: String.self)
            let signIn = try await visit.signInElsewhere(numbers: entrance)
            let number = try #require(await numbers.first())
            let request = try await visit.request()
            #expect(request.numbers?.contains(number) == true && request.numbers?.count == 3)
            await visit.model.answer(request.id, .approve())
            #expect(visit.model.requests.count == 1)
            await visit.model.answer(request.id, .approve(number: number))
            #expect(visit.model.errorMessage == nil && visit.model.requests.isEmpty)
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
            await visit.model.answer(request.id, .approve(number: wrong))
            #expect(visit.model.requests.isEmpty)
            #expect(try await signIn.outcome() == .refused("access_denied"))
        }
    }

    @Test(
        "If user verification is required, the push authenticator app asks for the PIN, and a wrong PIN fails the sign-in",
        arguments: ["1234", "9999"])
    func verified(pin: String) async throws {
        try await withSandbox(.withVerification) { sandbox in
            let visit = try PhoneVisit(sandbox)
            try await visit.enroll(verifiesUser: true)
            let signIn = try await visit.signInElsewhere()
            let request = try await visit.request()
            async let answered: Void = visit.model.answer(request.id, .approve())
            #expect(await eventually { visit.pin.question?.isNew == false })
            try await visit.give(pin: pin)
            await answered
            #expect(visit.model.requests.isEmpty)
            if pin == "1234" {
                #expect(visit.model.errorMessage == nil && visit.model.notice == "Approved.", "\(visit.model.errorMessage ?? "")")
                #expect(try await signIn.outcome() == .tokens)
            } else {
                #expect(visit.model.errorMessage?.isEmpty == false && visit.model.notice == nil)
                #expect(try await signIn.outcome() == .refused("access_denied"))
            }
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
            async let answered: Void = visit.model.answer(request.id, .approve())
            #expect(await eventually { visit.pin.question?.isNew == false })
            #expect(visit.model.pinReason == "Direct Authentication App wants to sign you in")
            try await visit.give(pin: "9999")
            await answered
            #expect(visit.model.notice == "Approved. You could not be verified, and the organization was notified.")
            #expect(visit.model.errorMessage == nil && visit.model.requests.isEmpty)
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
            async let answered: Void = visit.model.answer(request.id, .approve())
            #expect(await eventually { visit.pin.question?.isNew == false })
            visit.pin.cancel()
            await answered
            #expect(visit.model.notice == nil && visit.model.requests.isEmpty)
            #expect(
                visit.model.errorMessage
                    == "You cancelled the verification, so the sign-in was not approved. Start the sign-in again.")
            #expect(try await signIn.outcome() == .refused("access_denied"))
        }
    }

    @Test("An approval that fails because the connection breaks can be sent again")
    func offline() async throws {
        try await withSandbox { sandbox in
            let visit = try PhoneVisit(sandbox)
            try await visit.enroll()
            let signIn = try await visit.signInElsewhere()
            let request = try await visit.request()
            sandbox.inject(Fault(.dropConnectionBeforeCommit, at: "verify"))
            await visit.model.answer(request.id, .approve())
            #expect(visit.model.requests.count == 1 && visit.model.errorMessage?.isEmpty == false)
            visit.model.errorMessage = nil
            sandbox.clearFaults()
            await visit.model.answer(request.id, .approve())
            #expect(visit.model.requests.isEmpty && visit.model.errorMessage == nil)
            #expect(try await signIn.outcome() == .tokens)
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
            await visit.model.answer(request.id, .deny())
            #expect(here.requests == [request])
            if isAnsweredHere {
                await here.answer(request.id, .approve())
                #expect(here.errorMessage == "The sign-in request was already answered.")
            } else {
                await here.retrieve()
                #expect(here.notice == "No requests" && here.errorMessage == nil)
                // The user presses the button too late.
                await here.answer(request.id, .approve())
                #expect(here.errorMessage == "This request is no longer pending.")
            }
            #expect(here.requests.isEmpty)
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
            #expect(request.question == "Bank asks for your approval" && request.isCIBA)
            #expect(request.facts().first == ApprovalRequest.Fact(label: "Message", value: "Pay 10 euros"))
            #expect(request.facts().map(\.label) == ["Message", "Place", "System", "Time", "Until"])
            await visit.model.answer(request.id, .approve())
            #expect(visit.model.notice == "Approved." && visit.model.requests.isEmpty)
            #expect(try await visit.bankHasTokens(asked))
        }
    }

    @Test("The push authenticator app shows the times of a request in the app's language and the user's time zone")
    func times() throws {
        func times(_ language: String, _ zone: String) throws -> [String: String] {
            let wording = Wording(bundle: resources, language: language)
            let facts = ApprovalRequest.sample().facts(wording, timeZone: try #require(TimeZone(identifier: zone)))
            // Some systems write a narrow no-break space before AM and PM.
            return Dictionary(uniqueKeysWithValues: facts.map { ($0.label, $0.value.replacing("\u{202F}", with: " ")) })
        }
        #expect(try times("en", "UTC")["Time"] == "5:46:40\u{20}PM")
        #expect(try times("de", "UTC")["Zeit"] == "17:46:40")
        #expect(try times("de", "Asia/Tokyo")["Zeit"] == "02:46:40")
    }

    @Test("Approving an expired request shows an error and removes the request")
    func expired() async throws {
        try await withSandbox { sandbox in
            let visit = try PhoneVisit(sandbox)
            try await visit.enroll()
            let signIn = try await visit.signInElsewhere()
            let request = try await visit.request()
            sandbox.advance(by: 600)
            await visit.model.answer(request.id, .approve())
            #expect(visit.model.errorMessage?.isEmpty == false)
            #expect(visit.model.requests.isEmpty)
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
            async let answered: Void = visit.model.answer(request.id, .approve())
            #expect(await eventually { visit.pin.question != nil })
            #expect(visit.model.answering == request.id)
            await visit.model.answer(request.id, .deny())
            #expect(visit.model.requests.count == 1)
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
            #expect(await eventually { !model.requests.isEmpty })
            await model.answer(try #require(model.shownRequest).id, .approve())
            #expect(try await signIn.outcome() == .tokens)
            listening.cancel()
            await listening.value
        }
    }
}
