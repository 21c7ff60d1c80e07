import AuthFoundation
import CountersignSandbox
import CountersignUI
import Foundation
import TestSupport
import Testing

@Suite("Requests in an authenticator app")
@MainActor
struct PushRequestTests {
    private static func withNumbers(_ organization: String) -> String {
        organization.replacing("number_challenge: never", with: "number_challenge: always")
    }

    private static func withVerification(_ organization: String) -> String {
        organization.replacing("number_challenge: never", with: "number_challenge: never\n    user_verification: required")
    }

    @Test("A fetched request shows the app, the user and the place, and an approval completes the sign-in")
    func approve() async throws {
        try await PhoneVisit.play { visit in
            await visit.model.fetch()
            #expect(visit.model.requests.isEmpty && visit.model.problem == nil)
            let signIn = try await visit.signInElsewhere()
            let request = try await visit.request()
            #expect(request.application == "Direct Authentication App" && request.userName == PhoneVisit.jane.login)
            #expect(request.organization == visit.sandbox.origin.host() && request.enrollmentID == request.id.enrollmentID)
            #expect(request.isVerified && !request.isBackchannel && request.numbers == nil && request.message == nil)
            #expect(SignInTexts(languageCode: "en").question(of: request) == "Are you trying to sign in to Direct Authentication App?")
            await visit.model.approve(request.id)
            #expect(visit.model.requests.isEmpty && visit.model.answering == nil)
            #expect(visit.model.outcome == .approved && visit.model.problem == nil)
            #expect(await visit.end(signIn).isSignedIn)
        }
    }

    @Test("A denial ends the wait of the sign-in", arguments: [false, true])
    func deny(isSuspicious: Bool) async throws {
        try await PhoneVisit.play { visit in
            let signIn = try await visit.signInElsewhere()
            await visit.model.deny(try await visit.request().id, isSuspicious: isSuspicious)
            #expect(visit.model.outcome == (isSuspicious ? .reported : .denied) && visit.model.requests.isEmpty)
            #expect(await visit.end(signIn).problem?.code == .denied)
        }
    }

    @Test("A number challenge is approved with the number that the sign-in shows, and not without a number")
    func number() async throws {
        try await PhoneVisit.play(organization: Self.withNumbers) { visit in
            let signIn = try await visit.signInElsewhere()
            let request = try await visit.request()
            #expect(await eventually { signIn.session.step.number != nil })
            let number = try #require(signIn.session.step.number)
            #expect(request.numbers?.contains(number) == true)
            await visit.model.approve(request.id)
            #expect(visit.model.requests.count == 1 && visit.model.outcome == nil)
            await visit.model.approve(request.id, number: number)
            #expect(visit.model.outcome == .approved && visit.model.requests.isEmpty)
            #expect(await visit.end(signIn).isSignedIn)
        }
    }

    @Test("An approval with a wrong number ends the request and the wait of the sign-in")
    func wrongNumber() async throws {
        try await PhoneVisit.play(organization: Self.withNumbers) { visit in
            let signIn = try await visit.signInElsewhere()
            let request = try await visit.request()
            #expect(await eventually { signIn.session.step.number != nil })
            let wrong = try #require(request.numbers?.first { $0 != signIn.session.step.number })
            await visit.model.approve(request.id, number: wrong)
            #expect(visit.model.requests.isEmpty && visit.model.problem?.code == .over && visit.model.outcome == nil)
            #expect(await visit.end(signIn).problem?.code == .denied)
        }
    }

    @Test("A failure of the server during an approval with a number keeps the request")
    func failureWithNumber() async throws {
        try await PhoneVisit.play(organization: Self.withNumbers) { visit in
            let signIn = try await visit.signInElsewhere()
            let request = try await visit.request()
            #expect(await eventually { signIn.session.step.number != nil })
            visit.sandbox.inject(Fault(.status(500), at: "verify", count: 10))
            await visit.model.approve(request.id, number: signIn.session.step.number)
            #expect(visit.model.requests.map(\.id) == [request.id] && visit.model.problem?.code == .failed)
            visit.sandbox.clearFaults()
            await visit.model.approve(request.id, number: signIn.session.step.number)
            #expect(visit.model.outcome == .approved)
            #expect(await visit.end(signIn).isSignedIn)
        }
    }

    @Test("If user verification is required, a wrong PIN and a cancelled verification approve nothing", arguments: ["9999", nil])
    func notVerified(pin: String?) async throws {
        try await PhoneVisit.play(organization: Self.withVerification, verifiesUser: true) { visit in
            let signIn = try await visit.signInElsewhere()
            let request = try await visit.request()
            visit.pin.set(pin)
            await visit.model.approve(request.id)
            #expect(visit.model.problem?.code == .userNotVerified && visit.model.outcome == nil)
            #expect(visit.model.requests.isEmpty)
            #expect(await visit.end(signIn).isSignedIn == false)
        }
    }

    @Test("If user verification is required, the right PIN approves")
    func verified() async throws {
        try await PhoneVisit.play(organization: Self.withVerification, verifiesUser: true) { visit in
            let signIn = try await visit.signInElsewhere()
            await visit.model.approve(try await visit.request().id)
            #expect(visit.model.outcome == .approved && visit.model.problem == nil)
            #expect(await visit.end(signIn).isSignedIn)
        }
    }

    @Test("If user verification is only preferred, a wrong PIN approves without it, and the app says so")
    func approvedUnverified() async throws {
        try await PhoneVisit.play(verifiesUser: true) { visit in
            let signIn = try await visit.signInElsewhere()
            visit.pin.set("9999")
            await visit.model.approve(try await visit.request().id)
            #expect(visit.model.outcome == .approvedUnverified && visit.model.problem == nil)
            #expect(await visit.end(signIn).isSignedIn)
        }
    }

    @Test("After an answer that fails because of the network, the user can give another answer")
    func offline() async throws {
        try await PhoneVisit.play { visit in
            let signIn = try await visit.signInElsewhere()
            let request = try await visit.request()
            visit.sandbox.inject(Fault(.dropConnectionBeforeCommit, at: "verify"))
            await visit.model.deny(request.id)
            #expect(visit.model.problem?.code == .offline && visit.model.requests.count == 1)
            await visit.model.approve(request.id)
            #expect(visit.model.outcome == .approved && visit.model.problem == nil)
            #expect(await visit.end(signIn).isSignedIn)
        }
    }

    @Test("A fetch without a network reports it and keeps the pending requests")
    func offlineFetch() async throws {
        try await PhoneVisit.play { visit in
            let signIn = try await visit.signInElsewhere()
            let request = try await visit.request()
            visit.sandbox.inject(Fault(.dropConnectionBeforeCommit, at: .any, count: 20))
            await visit.model.fetch()
            visit.sandbox.clearFaults()
            #expect(visit.model.problem?.code == .offline && visit.model.requests.map(\.id) == [request.id])
            await visit.model.fetch()
            #expect(visit.model.problem == nil && visit.model.requests.map(\.id) == [request.id])
            signIn.session.cancel()
            await signIn.task.value
        }
    }

    @Test("A fetch that the user did not start reports no problem, and keeps the problem of an answer until the app clears it")
    func quietFetch() async throws {
        try await PhoneVisit.play { visit in
            let signIn = try await visit.signInElsewhere()
            let request = try await visit.request()
            visit.sandbox.inject(Fault(.dropConnectionBeforeCommit, at: .any, count: 20))
            await visit.model.fetch(reportsProblem: false)
            #expect(visit.model.problem == nil && visit.model.requests.map(\.id) == [request.id])
            visit.sandbox.clearFaults()
            visit.sandbox.inject(Fault(.dropConnectionBeforeCommit, at: "verify"))
            await visit.model.approve(request.id)
            await visit.model.fetch(reportsProblem: false)
            #expect(visit.model.problem?.code == .offline)
            visit.model.clearMessages()
            #expect(visit.model.problem == nil && visit.model.requests.map(\.id) == [request.id])
            signIn.session.cancel()
            await signIn.task.value
        }
    }

    @Test("The result of the last answer stays for a minute, also during fetches and if a new request arrives")
    func newRequest() async throws {
        try await PhoneVisit.play { visit in
            let first = try await visit.signInElsewhere()
            await visit.model.deny(try await visit.request().id)
            await visit.model.fetch()
            #expect(visit.model.outcome == .denied)
            _ = await visit.end(first)
            let second = try await visit.signInElsewhere()
            try await visit.arrival(of: 1)
            #expect(visit.model.outcome == .denied)
            visit.sandbox.advance(by: 60)
            await visit.model.fetch()
            #expect(visit.model.outcome == nil && visit.model.requests.count == 1)
            second.session.cancel()
            await second.task.value
        }
    }

    @Test("The details of a request are in the language of the texts, and the time is in the given language and time zone")
    func details() async throws {
        try await PhoneVisit.play { visit in
            let signIn = try await visit.signInElsewhere()
            let request = try await visit.request()
            let zone = try #require(TimeZone(identifier: "Asia/Tokyo"))
            let (texts, locale) = (SignInTexts(languageCode: "de"), Locale(identifier: "de"))
            let details = texts.details(of: request, locale: locale, timeZone: zone)
            #expect(details.map(\.label) == ["Konto", "Organisation", "Ort", "System", "Zeit"])
            #expect(details.prefix(2).map(\.value) == [PhoneVisit.jane.login, visit.sandbox.origin.host()])
            var calendar = Calendar(identifier: .gregorian)
            calendar.timeZone = zone
            let time = calendar.dateComponents([.hour, .minute], from: request.time)
            let text = try #require(details.last?.value)
            #expect(text.split(separator: ":").map { Int($0) } == [time.hour, time.minute], "\(text)")
            let summary = [PhoneVisit.jane.login, request.organization, request.place, text].compactMap(\.self).joined(separator: " · ")
            #expect(texts.summary(of: request, locale: locale, timeZone: zone) == summary)
            #expect(texts.several(2) == "2 offene Anfragen" && texts.several(1) == nil)
            #expect(texts.previous(.denied) == "Vorherige Anfrage: Abgelehnt")
            signIn.session.cancel()
            await signIn.task.value
        }
    }

    @Test("An approval of a cancelled sign-in is rejected, and its request disappears")
    func cancelled() async throws {
        try await PhoneVisit.play { visit in
            let signIn = try await visit.signInElsewhere()
            let request = try await visit.request()
            signIn.session.cancel()
            await signIn.task.value
            await signIn.session.settled()
            await visit.model.approve(request.id)
            #expect(visit.model.problem?.code == .over && visit.model.requests.isEmpty)
            await visit.model.approve(request.id)
            #expect(visit.model.problem?.code == .over)
            await visit.model.fetch()
            #expect(visit.model.requests.isEmpty && visit.model.problem == nil)
        }
    }

    @Test("A request disappears when it expires")
    func expired() async throws {
        try await PhoneVisit.play { visit in
            let signIn = try await visit.signInElsewhere()
            _ = try await visit.request()
            visit.sandbox.advance(by: 400)
            await visit.model.fetch()
            #expect(visit.model.requests.isEmpty)
            await signIn.task.value
        }
    }

    @Test("A push shows its request at once, and the actions of the notification answer it", arguments: ["APPROVE_BUTTON", "DENY_BUTTON"])
    func action(identifier: String) async throws {
        let token = Data([1, 2, 3, 4])
        try await PhoneVisit.play(pushToken: token) { visit in
            let pushes = visit.pushes(to: token)
            let signIn = try await visit.signInElsewhere()
            let userInfo = try await pushes.userInfo()
            #expect(await visit.model.receive(userInfo))
            #expect(visit.model.requests.count == 1 && visit.model.requests.first?.application != nil && visit.model.selected == nil)
            #expect(await visit.model.receive(userInfo, action: identifier))
            #expect(visit.model.requests.isEmpty && visit.model.outcome == (identifier == "APPROVE_BUTTON" ? .approved : .denied))
            #expect(await visit.model.receive(userInfo))
            #expect(visit.model.requests.isEmpty, "A late push does not show an answered request.")
            #expect(await visit.model.receive(userInfo, action: "REVIEW_BUTTON"))
            #expect(visit.model.problem?.code == .over && visit.model.selected == nil)
            #expect(await visit.end(signIn).isSignedIn == (identifier == "APPROVE_BUTTON"))
        }
    }

    @Test("A request that a push delivers and the user denies during a fetch is not listed again by that fetch")
    func deniedDuringFetch() async throws {
        let token = Data([1, 2, 3, 4])
        try await PhoneVisit.play(pushToken: token) { visit in
            let pushes = visit.pushes(to: token)
            let signIn = try await visit.signInElsewhere()
            let userInfo = try await pushes.userInfo()
            let list = visit.hold("/push/notifications")
            let fetch = Task { await visit.model.fetch() }
            await list.arrived.wait()
            #expect(await visit.model.receive(userInfo, action: "DENY_BUTTON"))
            #expect(visit.model.outcome == .denied)
            list.release.open()
            await fetch.value
            #expect(visit.model.requests.isEmpty && visit.model.outcome == .denied && visit.model.problem == nil)
            #expect(await visit.end(signIn).problem?.code == .denied)
        }
    }

    @Test("A tap on a notification selects its request, and an approval by its action waits for the number of a number challenge")
    func tap() async throws {
        let token = Data([1, 2, 3, 4])
        try await PhoneVisit.play(organization: Self.withNumbers, pushToken: token) { visit in
            let pushes = visit.pushes(to: token)
            let signIn = try await visit.signInElsewhere()
            let userInfo = try await pushes.userInfo()
            #expect(await visit.model.receive(userInfo, action: "APPROVE_BUTTON"))
            let request = try #require(visit.model.current)
            #expect(visit.model.selected == request.id && visit.model.outcome == nil)
            signIn.session.cancel()
            await signIn.task.value
        }
    }

    @Test("A push of another service is not a request")
    func foreignPush() async throws {
        try await PhoneVisit.play { visit in
            #expect(await visit.model.receive(["aps": ["alert": "Hello"]]) == false)
            #expect(visit.model.problem == nil && visit.model.requests.isEmpty)
        }
    }

    @Test("A device without pushes fetches repeatedly until its task is cancelled")
    func listen() async throws {
        try await PhoneVisit.play { visit in
            let listening = Task { await visit.model.listen(every: 2) }
            let signIn = try await visit.signInElsewhere()
            #expect(
                await eventually {
                    visit.sandbox.advance(by: 2)
                    return !visit.model.requests.isEmpty
                })
            listening.cancel()
            await listening.value
            signIn.session.cancel()
            await signIn.task.value
        }
    }

    @Test("The questions and results of requests are available in German")
    func german() async throws {
        try await PhoneVisit.play { visit in
            let signIn = try await visit.signInElsewhere()
            let request = try await visit.request()
            let texts = SignInTexts(languageCode: "de")
            #expect(texts.question(of: request) == "Melden Sie sich gerade bei Direct Authentication App an?")
            #expect(texts.message(of: .approved) == "Zugestimmt")
            await visit.model.deny(request.id)
            _ = await visit.end(signIn)
        }
    }
}
