import Foundation
import OktaAuthSdk
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@MainActor
@Suite("Entry points of the classic API")
struct EntryPointTests {
    @Test(
        "An unlock or password recovery request contains the user name and the channel in lower case",
        arguments: [
            (OktaRecoveryFactors.sms, "sms"), (.call, "call"), (.email, "email"),
        ])
    func recoveries(factor: OktaRecoveryFactors, word: String) async throws {
        let org = try Org()
        org.server.answer(Answers.recoveryChallenge)
        _ = try await org.start.unlockAccount(username: "ana", factorType: factor)
        #expect(try org.lastSent == #"POST /recovery/unlock {"factorType":"\#(word)","username":"ana"}"#)
        org.server.answer(Answers.recoveryChallenge)
        _ = try await org.start.recoverPassword(username: "ana", factorType: factor)
        #expect(try org.lastSent == #"POST /recovery/password {"factorType":"\#(word)","username":"ana"}"#)
    }

    @Test("A classic transaction can be resumed by its state token")
    func fetch() async throws {
        let org = try Org()
        let status = try await org.status(OktaAuthStatusFactorRequired.self, Answers.required(Answers.selectable("sms")))
        #expect(try org.lastSent == #"POST  {"stateToken":"state-1"}"#)
        #expect(status.stateToken == "state-1")
    }

    @Test("A recovery token starts a recovery transaction, and the request contains no state token")
    func recoveryToken() async throws {
        let org = try Org()
        org.server.answer(Answers.recovery)
        let status = try await org.start.verifyRecoveryToken("recovery-1")
        #expect(try org.lastSent == #"POST /recovery/token {"recoveryToken":"recovery-1"}"#)
        #expect(status is OktaAuthStatusRecovery)
    }

    @Test("An activation token starts a transaction, and the request contains no user name or password")
    func activationToken() async throws {
        let org = try Org()
        org.server.answer(Answers.passwordReset)
        #expect(try await org.start.authenticate(activationToken: "activation-1") is OktaAuthStatusPasswordReset)
        let options = #""options":{"multiOptionalFactorEnroll":true,"warnBeforePasswordExpired":true}"#
        #expect(try org.lastSent == "POST  {" + options + #","token":"activation-1"}"#)
    }

    @Test("The class functions of OktaAuthSdk report a connection failure once, on the main queue")
    func classFunctions() async throws {
        // No server listens on the discard port.
        let url = try #require(URL(string: "http://127.0.0.1:9"))
        let heard = [Heard(), Heard(), Heard(), Heard()]
        OktaAuthSdk.authenticate(
            with: url, username: "ana", password: nil, onStatusChange: { heard[0].status($0) }, onError: { heard[0].error($0) })
        OktaAuthSdk.unlockAccount(
            with: url, username: "ana", factorType: .sms, onStatusChange: { heard[1].status($0) }, onError: { heard[1].error($0) })
        OktaAuthSdk.recoverPassword(
            with: url, username: "ana", factorType: .sms, onStatusChange: { heard[2].status($0) }, onError: { heard[2].error($0) })
        OktaAuthSdk.fetchStatus(with: "state-1", using: url, onStatusChange: { heard[3].status($0) }, onError: { heard[3].error($0) })
        for each in heard {
            await each.settle()
            #expect(each.count == 1)
            guard case .connectionError = each.errors.first else {
                Issue.record("no connection error: \(each.errors)")
                continue
            }
        }
    }

    @Test("A closure of the classic API is called once, asynchronously, on the main queue")
    func callsBackOnce() async throws {
        let org = try Org()
        let heard = Heard()
        org.server.answer(Answers.success)
        org.start.authenticate(username: "ana", password: "x", onStatusChange: { heard.status($0) }, onError: { heard.error($0) })
        #expect(heard.count == 0)
        await heard.settle()
        #expect(heard.statuses.map(\.statusType) == [.success])
        #expect(heard.errors.isEmpty)
    }

    @Test("If the app's HTTP implementation responds twice to a request, only the first response is used")
    func answersTwice() async throws {
        let org = try Org()
        org.start.restApi.httpRequestListener = TwiceAnswering(body: Answers.success)
        let heard = Heard()
        org.start.authenticate(username: "ana", password: "x", onStatusChange: { heard.status($0) }, onError: { heard.error($0) })
        await heard.settle()
        #expect(heard.count == 1)
    }

    @Test("A call that the current status does not allow fails asynchronously on the main queue, without a request")
    func refusedLater() async throws {
        let org = try Org()
        let status = try await org.status(OktaAuthStatusSuccess.self, Answers.success)
        let sent = org.server.arrivals.count
        let heard = Heard()
        status.returnToPreviousStatus(onStatusChange: { heard.status($0) }, onError: { heard.error($0) })
        #expect(heard.count == 0)
        await heard.settle()
        #expect(heard.errors.count == 1)
        #expect(org.server.arrivals.count == sent)
    }

    /// An HTTP library that calls the completion handler twice.
    private final class TwiceAnswering: OktaHTTPRequestListenerProtocol {
        let body: String

        init(body: String) {
            self.body = body
        }

        func sendRequest(_ request: URLRequest, completionHandler: @escaping (Data?, URLResponse?, (any Error)?) -> Void) {
            let response = request.url.flatMap { HTTPURLResponse(url: $0, statusCode: 200, httpVersion: nil, headerFields: nil) }
            for _ in 0..<2 { completionHandler(Data(body.utf8), response, nil) }
        }
    }
}
