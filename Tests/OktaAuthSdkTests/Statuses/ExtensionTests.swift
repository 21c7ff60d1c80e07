import Foundation
import OktaAuthSdk
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A status that the module does not know.
private final class ConsentStatus: OktaAuthStatus {
    var scopes: [String] {
        let body = model.rawData.flatMap { try? JSONSerialization.jsonObject(with: $0) } as? [String: Any]
        let embedded = body?["_embedded"] as? [String: Any]
        return (embedded?["scopes"] as? [[String: String]] ?? []).compactMap { $0["name"] }
    }

    func consent(onStatusChange: @escaping (OktaAuthStatus) -> Void, onError: @escaping (OktaError) -> Void) {
        guard let link = links?.next, let token = model.stateToken else { return onError(.wrongStatus("no consent")) }
        restApi.sendApiRequest(with: link, bodyParams: ["stateToken": token, "consent": true], method: .post) { result in
            self.responseHandler.handleServerResponse(
                result, currentStatus: self, onStatusChanged: onStatusChange, onError: onError)
        }
    }
}

private final class ConsentHandler: OktaAuthStatusResponseHandler {
    override func createAuthStatus(
        basedOn response: OktaAPISuccessResponse, and currentStatus: OktaAuthStatus
    ) throws -> OktaAuthStatus {
        if response.status == .unknown("CONSENT_REQUIRED") { return try ConsentStatus(currentState: currentStatus, model: response) }
        return try super.createAuthStatus(basedOn: response, and: currentStatus)
    }
}

/// A handler with its own polling. The app gets only the result.
private final class PollingHandler: OktaAuthStatusResponseHandler {
    override func handleServerResponse(
        _ response: OktaAPIRequest.Result, currentStatus: OktaAuthStatus, onStatusChanged: @escaping (_ newState: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        if case .success(let answer) = response, answer.factorResult == .waiting, let link = answer.links?.next,
            let token = answer.stateToken
        {
            currentStatus.restApi.perform(link: link, stateToken: token) { result in
                self.handleServerResponse(result, currentStatus: currentStatus, onStatusChanged: onStatusChanged, onError: onError)
            }
        } else {
            super.handleServerResponse(response, currentStatus: currentStatus, onStatusChanged: onStatusChanged, onError: onError)
        }
    }
}

/// A status with additional properties.
private final class GreetingSuccess: OktaAuthStatusSuccess {
    var greeting: String { "Hello, \(user?.profile?.firstName ?? "you")" }
}

private final class GreetingHandler: OktaAuthStatusResponseHandler {
    override func createAuthStatus(
        basedOn response: OktaAPISuccessResponse, and currentStatus: OktaAuthStatus
    ) throws -> OktaAuthStatus {
        response.status == .success
            ? try GreetingSuccess(currentState: currentStatus, model: response)
            : try super.createAuthStatus(basedOn: response, and: currentStatus)
    }
}

private final class FailingHandler: OktaAuthStatusResponseHandler {
    struct Failure: Error {}

    override func createAuthStatus(
        basedOn response: OktaAPISuccessResponse, and currentStatus: OktaAuthStatus
    ) throws -> OktaAuthStatus {
        throw Failure()
    }
}

/// A handler that continues on another thread.
private final class DistantHandler: OktaAuthStatusResponseHandler {
    private struct Call: @unchecked Sendable {
        // `@unchecked Sendable`: the closure is called exactly once, on that thread.
        let make: () -> Void
    }

    override func handleServerResponse(
        _ response: OktaAPIRequest.Result, currentStatus: OktaAuthStatus, onStatusChanged: @escaping (_ newState: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        let call = Call {
            super.handleServerResponse(response, currentStatus: currentStatus, onStatusChanged: onStatusChanged, onError: onError)
        }
        Thread.detachNewThread { call.make() }
    }
}

/// An app's own API implementation, which counts and inspects each request.
private final class CountingAPI: OktaAPI {
    var begun = 0

    override func primaryAuthentication(
        username: String?, password: String?, audience: String? = nil, relayState: String? = nil, multiOptionalFactorEnroll: Bool = true,
        warnBeforePasswordExpired: Bool = true, token: String? = nil, deviceToken: String? = nil, deviceFingerprint: String? = nil,
        completion: ((OktaAPIRequest.Result) -> Void)? = nil
    ) -> OktaAPIRequest {
        begun += 1
        return super.primaryAuthentication(
            username: username, password: password, relayState: "there", multiOptionalFactorEnroll: false, completion: completion)
    }
}

@MainActor
@Suite("Extensions of the classic API")
struct ExtensionTests {
    @Test("The app's response handler can create its own statuses for unknown states")
    func newStatus() async throws {
        let org = try Org(handler: ConsentHandler())
        let status = try await org.status(
            ConsentStatus.self,
            Answers.transaction(
                "CONSENT_REQUIRED", embedded: #""scopes":[{"name":"mail"},{"name":"calendar"}]"#,
                links: [Answers.link("next", "/consent", name: "consent")]))
        #expect(status.statusType == .unknown("CONSENT_REQUIRED"))
        #expect(status.scopes == ["mail", "calendar"])
        org.server.answer(Answers.success)
        let heard = Heard()
        status.consent(onStatusChange: { heard.status($0) }, onError: { heard.error($0) })
        await heard.settle()
        #expect(heard.statuses.first is OktaAuthStatusSuccess)
        #expect(try org.lastSent == #"POST /consent {"consent":true,"stateToken":"state-1"}"#)
    }

    @Test("The app's response handler can poll a push automatically until the user approves")
    func ownPolling() async throws {
        let org = try Org(handler: PollingHandler())
        let required = try await org.status(OktaAuthStatusFactorRequired.self, Answers.required(Answers.selectable("push")))
        for _ in 0..<3 { org.server.answer(Answers.challenge("push", next: "poll", result: "WAITING")) }
        org.server.answer(Answers.success)
        #expect(try await required.availableFactors.first?.select() is OktaAuthStatusSuccess)
        #expect(org.server.arrivals.count == 5)
    }

    @Test("Each later status inherits the response handler and the OktaAPI instance")
    func inherits() async throws {
        let handler = GreetingHandler()
        let org = try Org(handler: handler)
        let required = try await org.status(OktaAuthStatusFactorRequired.self, Answers.required(Answers.selectable("sms")))
        #expect(required.responseHandler === handler)
        #expect(required.restApi === org.start.restApi)
        org.server.answer(Answers.challenge("sms"))
        let challenge = try #require(try await required.availableFactors.first?.select() as? OktaAuthStatusFactorChallenge)
        #expect(challenge.responseHandler === handler)
        org.server.answer(Answers.success)
        let success = try #require(try await challenge.verifyFactor(passCode: "123456") as? GreetingSuccess)
        #expect(success.greeting == "Hello, Ana")
    }

    @Test("If the app's response handler throws an error other than OktaError, the app gets an unexpectedResponse error")
    func failing() async throws {
        let org = try Org(handler: FailingHandler())
        org.server.answer(Answers.success)
        await #expect {
            _ = try await org.start.authenticate(username: "ana", password: "x")
        } throws: {
            if case OktaError.unexpectedResponse = $0 { true } else { false }
        }
    }

    @Test("The response handler can call back on any thread, and the app's closures are called on the main queue")
    func distant() async throws {
        let org = try Org(handler: DistantHandler())
        org.server.answer(Answers.success)
        let heard = Heard()
        org.start.authenticate(username: "ana", password: "x", onStatusChange: { heard.status($0) }, onError: { heard.error($0) })
        await heard.settle()
        #expect(heard.statuses.count == 1)
    }

    @Test("OktaAPI can be subclassed, and its common completion closure is called after each request's completion")
    func ownAPI() async throws {
        let org = try Org()
        let api = CountingAPI(oktaDomain: org.start.restApi.oktaDomain)
        api.httpRequestListener = org.server
        org.start.restApi = api
        let heard = Heard()
        var order: [String] = []
        api.commonCompletion = { request, result in
            dispatchPrecondition(condition: .onQueue(.main))
            if case .success(let answer) = result { order.append("common \(request.path ?? "") \(answer.status?.rawValue ?? "")") }
        }
        org.server.answer(Answers.success)
        org.start.authenticate(
            username: "ana", password: "x",
            onStatusChange: {
                order.append("own")
                heard.status($0)
            }, onError: { heard.error($0) })
        await heard.settle()
        #expect(api.begun == 1)
        #expect(order == ["own", "common /api/v1/authn SUCCESS"])
        #expect(
            try org.last.body == #"{"options":{"multiOptionalFactorEnroll":false,"warnBeforePasswordExpired":true},"#
                + #""password":"x","relayState":"there","username":"ana"}"#)
    }

    @Test("Requests of the classic API are sent with the URL session that the app provides")
    func ownSession() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [AnsweringProtocol.self]
        let session = URLSession(configuration: configuration)
        defer { session.finishTasksAndInvalidate() }
        let org = try Org()
        let api = OktaAPI(oktaDomain: org.start.restApi.oktaDomain, urlSession: session)
        #expect(api.urlSession === session)
        let answer = try await api.response { $0.getTransactionState(stateToken: "state-1", completion: $1) }
        #expect(answer.status == .lockedOut)
        let data = try await api.data(from: try #require(URL(string: "https://id.example.test/qr")))
        #expect(data == Data(Answers.lockedOut.utf8))
    }

    /// A protocol that gives the same response to every request.
    private final class AnsweringProtocol: URLProtocol {
        override class func canInit(with request: URLRequest) -> Bool { true }
        override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

        override func startLoading() {
            guard let url = request.url,
                let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: nil)
            else { return }
            client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
            client?.urlProtocol(self, didLoad: Data(Answers.lockedOut.utf8))
            client?.urlProtocolDidFinishLoading(self)
        }

        override func stopLoading() {}
    }
}
