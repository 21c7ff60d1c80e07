import CountersignSandbox
import DeviceAuthenticator
import ExampleTestSupport
import Foundation
import Testing

@testable import PushAuthenticatorApp

@MainActor
@Suite("The requests of the push authenticator app", .timeLimit(.minutes(5)))
struct RequestTests {
    @Test("a request says who asks and from where, and approving it signs in elsewhere")
    func approve() async throws {
        try await withSandbox { sandbox in
            let visit = try PhoneVisit(sandbox)
            try await visit.enroll()
            let model = visit.model
            await model.retrieve()
            #expect(model.requests.isEmpty && model.notice == "Nothing waits for you.")
            let signIn = try await visit.signInElsewhere()
            let request = try await visit.request()
            #expect(request.question == "Direct Authentication App wants to sign you in" && request.isVerified)
            #expect(request.facts.map(\.label) == ["Place", "System", "Time", "Until"] && request.numbers == nil)
            await model.answer(request.id, .approve())
            #expect(model.requests.isEmpty && model.notice == "Approved." && model.errorMessage == nil && model.answering == nil)
            #expect(try await visit.outcome(of: signIn) == .tokens)
        }
    }

    @Test("a denial refuses the sign-in, with a report or without", arguments: [false, true])
    func deny(isSuspicious: Bool) async throws {
        try await withSandbox { sandbox in
            let visit = try PhoneVisit(sandbox)
            try await visit.enroll()
            let signIn = try await visit.signInElsewhere()
            await visit.model.answer(try await visit.request().id, .deny(isSuspicious: isSuspicious))
            #expect(visit.model.notice == (isSuspicious ? "Denied, and reported as suspicious." : "Denied."))
            #expect(try await visit.outcome(of: signIn) == .refused("access_denied"))
        }
    }

    @Test("where a number has to be picked, the right one signs in, and none is no answer")
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
            #expect(try await visit.outcome(of: signIn) == .tokens)
        }
    }

    @Test("the wrong number ends the sign-in")
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
            #expect(try await visit.outcome(of: signIn) == .refused("access_denied"))
        }
    }

    @Test("with user verification the PIN is asked for, and the wrong one does not approve", arguments: ["1234", "9999"])
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
            #expect((visit.model.errorMessage == nil) == (pin == "1234"), "\(visit.model.errorMessage ?? "")")
            if pin == "1234" {
                #expect(try await visit.outcome(of: signIn) == .tokens)
            } else {
                #expect(try await visit.outcome(of: signIn) == .refused("access_denied"))
            }
        }
    }

    @Test("who gives up the PIN refuses the sign-in and is told so, also where verification is only preferred")
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
                    == "The answer is no approval, and the sign-in was refused: user verification was given up.")
            #expect(try await visit.outcome(of: signIn) == .refused("access_denied"))
        }
    }

    @Test("without the network the answer can be given again, and a request that was answered elsewhere goes")
    func offlineAndLate() async throws {
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
            #expect(try await visit.outcome(of: signIn) == .tokens)
        }
    }

    @Test("a request that nobody answers in time is shown no more")
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
            let outcome = try await visit.outcome(of: signIn)
            #expect(outcome == .tooLate || outcome == .refused("expired_token"), "\(outcome)")
        }
    }

    @Test("while an answer is under way, no other is given")
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
            #expect(try await visit.outcome(of: signIn) == .tokens)
        }
    }

    @Test("a device without pushes is told by asking again and again")
    func listening() async throws {
        try await withSandbox { sandbox in
            let visit = try PhoneVisit(sandbox)
            try await visit.enroll()
            let model = visit.model
            let listening = Task { await model.listen() }
            let signIn = try await visit.signInElsewhere()
            #expect(await eventually { !model.requests.isEmpty })
            await model.answer(try #require(model.shownRequest).id, .approve())
            #expect(try await visit.outcome(of: signIn) == .tokens)
            listening.cancel()
            await listening.value
        }
    }
}
