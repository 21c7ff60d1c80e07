import Foundation
import OktaAuthSdk
import TestSupport
import Testing

@MainActor
@Suite("Push in the classic API")
struct PushTests {
    private let clock = ManualClock(sleeps: .skipped)

    private static let waitingActivation = Answers.activation(
        "push", next: "poll",
        embedded: #"""
            {"expiresAt":"2031-05-04T10:25:30.000Z","factorResult":"WAITING","_links":{"qrcode":
            {"href":"https://id.example.test/api/v1/users/00uAna/factors/fac1/qr/20Qr7y","type":"image/png"},"send":[
            {"name":"email","href":"https://id.example.test/api/v1/authn/factors/fac1/lifecycle/activate/email","hints":{"allow":["POST"]}},
            {"name":"sms","href":"https://id.example.test/api/v1/authn/factors/fac1/lifecycle/activate/sms","hints":{"allow":["POST"]}}]}}
            """#, result: "WAITING")

    private static func waiting(number: Int? = nil) -> String {
        Answers.challenge("push", next: "poll", result: "WAITING", number: number, resends: true)
    }

    private func waitingPush(_ org: Org) async throws -> OktaFactorPush {
        let status = try await org.status(OktaAuthStatusFactorChallenge.self, Self.waiting())
        #expect(status.canPoll())
        return try #require(status.factor as? OktaFactorPush)
    }

    @Test("A push factor can be enrolled by QR code, text message or email, and polls until its activation")
    func activation() async throws {
        let org = try Org()
        let enroll = try await org.status(OktaAuthStatusFactorEnroll.self, Answers.enroll(Answers.enrollable("push")))
        org.server.answer(Self.waitingActivation)
        let status = try #require(
            try await (enroll.availableFactors.first as? OktaFactorPush)?.enroll() as? OktaAuthStatusFactorEnrollActivate)
        #expect(try org.lastSent == #"POST /factors {"factorType":"push","profile":{},"provider":"OKTA","stateToken":"state-1"}"#)
        #expect(status.factorResult == .waiting)
        #expect(status.canPoll())
        let push = try #require(status.factor as? OktaFactorPush)
        #expect(push.canActivate() && push.canSendPushCodeViaSms() && push.canSendPushCodeViaEmail())
        #expect(push.qrCodeLink?.href.lastPathComponent == "20Qr7y")
        #expect(push.sendLinks?.count == 2)
        #expect(push.activation?.expiresAt == "2031-05-04T10:25:30.000Z")
        org.server.answer(Self.waitingActivation)
        try await push.sendActivationLinkViaSms(with: "+34600111512")
        #expect(
            try org.lastSent
                == #"POST /factors/fac1/lifecycle/activate/sms {"profile":{"phoneNumber":"+34600111512"},"stateToken":"state-1"}"#)
        org.server.answer("", status: 204)
        try await push.sendActivationLinkViaEmail()
        #expect(try org.lastSent == #"POST /factors/fac1/lifecycle/activate/email {"profile":{},"stateToken":"state-1"}"#)
        org.server.answer(Self.waitingActivation)
        org.server.answer(Answers.success)
        #expect(try await push.pollFactorResult(clock: clock) is OktaAuthStatusSuccess)
        #expect(try org.lastSent == #"POST /factors/fac1/lifecycle/activate/poll {"stateToken":"state-1"}"#)
    }

    @Test("An expired activation of a push factor can be restarted")
    func activationAnew() async throws {
        let org = try Org()
        let status = try await org.status(
            OktaAuthStatusFactorEnrollActivate.self, Answers.activation("push", embedded: #"{"factorResult":"TIMEOUT"}"#, result: "TIMEOUT")
        )
        let push = try #require(status.factor as? OktaFactorPush)
        #expect(status.factorResult == .timeout)
        #expect(push.qrCodeLink == nil && !push.canSendPushCodeViaSms() && !push.canSendPushCodeViaEmail())
        await #expect { try await push.sendActivationLinkViaEmail() } throws: { isWrongStatus($0) }
        org.server.answer(Self.waitingActivation)
        #expect(try await push.activate().factorResult == .waiting)
        #expect(try org.lastSent == #"POST /factors/fac1/lifecycle/activate {"stateToken":"state-1"}"#)
    }

    @Test("A push factor polls until the user approves, and each waiting response can contain a number to pick")
    func approval() async throws {
        let org = try Org()
        let push = try await waitingPush(org)
        for answer in [Self.waiting(), Self.waiting(number: 41), Self.waiting(), Answers.success] { org.server.answer(answer) }
        var numbers: [Int?] = []
        let began = clock.now
        let status = try await push.pollFactorResult(every: 3, clock: clock) { status in
            numbers.append(((status as? OktaAuthStatusFactorChallenge)?.factor as? OktaFactorPush)?.correctAnswer)
        }
        #expect(status is OktaAuthStatusSuccess)
        #expect(numbers == [nil, 41, nil])
        #expect(clock.now.timeIntervalSince(began) == 9)
        let polls = org.server.arrivals.dropFirst()
        #expect(polls.count == 4)
        #expect(polls.allSatisfy { $0.path == "/api/v1/authn/factors/fac1/verify" && $0.body == #"{"stateToken":"state-1"}"# })
    }

    @Test(
        "A denied or timed-out push ends polling, and the app can send another push",
        arguments: [
            ("REJECTED", OktaAPISuccessResponse.FactorResult.rejected), ("TIMEOUT", .timeout),
        ])
    func denial(word: String, result: OktaAPISuccessResponse.FactorResult) async throws {
        let org = try Org()
        let push = try await waitingPush(org)
        org.server.answer(Self.waiting())
        org.server.answer(Answers.challenge("push", result: word, resends: true))
        let status = try #require(try await push.pollFactorResult(clock: clock) as? OktaAuthStatusFactorChallenge)
        #expect(status.factorResult == result)
        org.server.answer(Self.waiting())
        #expect(try await (status.factor as? OktaFactorPush)?.verify().factorResult == .waiting)
        #expect(try org.lastSent == #"POST /factors/fac1/verify {"stateToken":"state-1"}"#)
        org.server.answer(Self.waiting())
        #expect(try await status.resendFactor().factorResult == .waiting)
        #expect(try org.lastSent == #"POST /factors/fac1/verify/resend {"stateToken":"state-1"}"#)
    }

    @Test("A rate limit or a temporary connection failure does not end the polling of a push")
    func trouble() async throws {
        let org = try Org()
        let push = try await waitingPush(org)
        org.server.answer(Answers.refusal("E0000047", "Too many requests"), status: 429)
        org.server.answer(nil, failure: .networkConnectionLost)
        org.server.answer(Answers.success)
        #expect(try await push.pollFactorResult(clock: clock) is OktaAuthStatusSuccess)
    }

    @Test("A permanent connection failure or an expired transaction ends the polling of a push with an error")
    func lost() async throws {
        let org = try Org()
        let push = try await waitingPush(org)
        for _ in 0..<6 { org.server.answer(nil, failure: .cannotConnectToHost) }
        await #expect {
            _ = try await push.pollFactorResult(clock: clock)
        } throws: {
            if case OktaError.connectionError = $0 { true } else { false }
        }
        #expect(org.server.arrivals.count == 7)
        org.server.answer(Answers.refusal("E0000011", "Invalid token provided"), status: 401)
        await #expect { _ = try await push.pollFactorResult(clock: clock) } throws: { refusalCode($0) == "E0000011" }
    }

    @Test("Polling a push waits at least a second between polls, even if the app passes a shorter interval")
    func bounded() async throws {
        let org = try Org()
        let push = try await waitingPush(org)
        for _ in 0..<4 { org.server.answer(Self.waiting()) }
        let began = clock.now
        #expect(try await push.pollFactorResult(every: 0, atMost: 3, clock: clock).factorResult == .waiting)
        #expect(org.server.arrivals.count == 4)
        #expect(clock.now.timeIntervalSince(began) == 2)
    }

    @Test("The guide's example polls a push with closures until the server responds with a final status")
    func listing() async throws {
        let org = try Org()
        let push = try await waitingPush(org)
        for answer in [Self.waiting(), Self.waiting(), Answers.success] { org.server.answer(answer) }
        let heard = Heard()
        Poller(heard).handlePushChallenge(factor: push)
        await heard.settle()
        #expect(heard.statuses.map(\.statusType) == [.success])
        #expect(org.server.arrivals.count == 4)
    }

    @MainActor
    private final class Poller {
        let heard: Heard

        init(_ heard: Heard) {
            self.heard = heard
        }

        func handlePushChallenge(factor: OktaFactorPush) {
            factor.checkFactorResult(
                onStatusChange: { status in
                    if status.factorResult == .waiting {
                        self.handlePushChallenge(factor: factor)
                    } else {
                        self.heard.status(status)
                    }
                },
                onError: { error in
                    self.heard.error(error)
                })
        }
    }
}
