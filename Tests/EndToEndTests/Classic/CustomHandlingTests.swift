import AuthFoundation
import CountersignSandbox
import Foundation
import OktaAuthSdk
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// Code of an app that handles statuses which the module does not know.

/// The status with which the app's gateway requires that the user accepts its terms.
private final class TermsStatus: OktaAuthStatus {
    var version: String? {
        let body = model.rawData.flatMap { try? JSONSerialization.jsonObject(with: $0) } as? [String: Any]
        return body?["termsVersion"] as? String
    }

    func canAccept() -> Bool { links?.next != nil }

    func accept(onStatusChange: @escaping (OktaAuthStatus) -> Void, onError: @escaping (OktaError) -> Void) {
        guard let link = links?.next, let token = model.stateToken else { return onError(.wrongStatus("There are no terms to accept.")) }
        restApi.perform(link: link, stateToken: token) { result in
            self.responseHandler.handleServerResponse(result, currentStatus: self, onStatusChanged: onStatusChange, onError: onError)
        }
    }
}

/// Creates the app's own statuses.
private final class TermsHandler: OktaAuthStatusResponseHandler {
    override func createAuthStatus(
        basedOn response: OktaAPISuccessResponse, and currentStatus: OktaAuthStatus
    ) throws -> OktaAuthStatus {
        switch response.status {
        case .unknown("TERMS_REQUIRED"): try TermsStatus(currentState: currentStatus, model: response)
        case .success: try WelcomeStatus(currentState: currentStatus, model: response)
        default: try super.createAuthStatus(basedOn: response, and: currentStatus)
        }
    }
}

/// A success status with additional properties.
private final class WelcomeStatus: OktaAuthStatusSuccess {
    var greeting: String { "Welcome, \(user?.profile?.firstName ?? "you")!" }
}

/// Polls for a push with its own interval. The app gets only the result.
private final class PatientHandler: OktaAuthStatusResponseHandler {
    /// A later poll. `@unchecked Sendable`: it is created and called on the main queue.
    private struct Later: @unchecked Sendable {
        let ask: () -> Void
    }

    private let clock: any OAuth2Clock
    /// The number of responses with the factor result `WAITING`.
    private(set) var count = 0

    init(clock: any OAuth2Clock) {
        self.clock = clock
        super.init()
    }

    override func handleServerResponse(
        _ response: OktaAPIRequest.Result, currentStatus: OktaAuthStatus, onStatusChanged: @escaping (_ newState: OktaAuthStatus) -> Void,
        onError: @escaping (_ error: OktaError) -> Void
    ) {
        guard case .success(let answer) = response, answer.factorResult == .waiting, let link = answer.links?.next,
            let token = answer.stateToken
        else {
            return super.handleServerResponse(response, currentStatus: currentStatus, onStatusChanged: onStatusChanged, onError: onError)
        }
        count += 1
        let question = Later {
            currentStatus.restApi.perform(link: link, stateToken: token) { result in
                self.handleServerResponse(result, currentStatus: currentStatus, onStatusChanged: onStatusChanged, onError: onError)
            }
        }
        // The interval is two seconds; that of the module is four.
        Task { @MainActor [clock] in
            try? await clock.sleep(for: 2)
            question.ask()
        }
    }
}

/// A gateway between the app and the server that answers one request itself.
private final class TermsGateway: OktaHTTPRequestListenerProtocol {
    private let server = AppHTTP()
    private let held = Locked<(Data?, URLResponse?)?>(nil)

    func sendRequest(_ request: URLRequest, completionHandler: @escaping AppHTTP.Completion) {
        let answer = AppHTTP.Answer(call: completionHandler)
        if request.url?.lastPathComponent == "terms" {
            let (data, response) = held.withLock { $0 } ?? (nil, nil)
            return answer.call(data, response, nil)
        }
        server.sendRequest(request) { [held] data, response, error in
            guard let host = request.url?.host(), let port = request.url?.port else { return answer.call(data, response, error) }
            held.withLock { $0 = (data, response) }
            let terms = #"""
                {"status":"TERMS_REQUIRED","stateToken":"gateway-1","termsVersion":"2031-05",
                "_links":{"next":{"name":"accept","href":"http://\#(host):\#(port)/gateway/terms","hints":{"allow":["POST"]}}}}
                """#
            answer.call(Data(terms.utf8), response, error)
        }
    }
}

/// Tests an app's extensions of the SDK, with the server.
@MainActor
@Suite("An app extends the classic sign-in, over HTTP", .timeLimit(.minutes(5)))
struct CustomHandlingTests {
    private static let password = SandboxUser.jane.password ?? ""

    /// Signs in with closures, as the guide does.
    private func signIn(_ start: OktaAuthStatusUnauthenticated) async throws -> OktaAuthStatus {
        try await call { start.authenticate(username: SandboxUser.jane.login, password: Self.password, onStatusChange: $0, onError: $1) }
    }

    private func call(
        _ begin: (@escaping (OktaAuthStatus) -> Void, @escaping (OktaError) -> Void) -> Void
    ) async throws -> OktaAuthStatus {
        var status: OktaAuthStatus?
        let error: OktaError? = await withCheckedContinuation { continuation in
            begin(
                { new in
                    status = new
                    continuation.resume(returning: nil)
                }, { continuation.resume(returning: $0) })
        }
        if let error { throw error }
        return try #require(status)
    }

    @Test("A custom response handler can create the app's own classes for an unknown status and for the success status")
    func newStatus() async throws {
        try await withClassicSandbox { sandbox in
            let start = OktaAuthStatusUnauthenticated(oktaDomain: sandbox.origin, responseHandler: TermsHandler())
            start.restApi.httpRequestListener = TermsGateway()
            let terms = try #require(try await signIn(start) as? TermsStatus)
            #expect(terms.statusType == .unknown("TERMS_REQUIRED") && terms.version == "2031-05" && terms.canAccept())
            let welcome = try #require(try await call { terms.accept(onStatusChange: $0, onError: $1) } as? WelcomeStatus)
            #expect(welcome.greeting == "Welcome, Jane!" && welcome.sessionToken != nil)
            #expect(welcome.responseHandler === start.responseHandler)
        }
    }

    @Test("Without a custom response handler, an unknown status causes an error that contains the response")
    func unknownStatus() async throws {
        try await withClassicSandbox { sandbox in
            let start = OktaAuthStatusUnauthenticated(oktaDomain: sandbox.origin)
            start.restApi.httpRequestListener = TermsGateway()
            await #expect {
                _ = try await signIn(start)
            } throws: { error in
                guard case OktaError.unknownStatus(let answer) = error else { return false }
                return answer.status == .unknown("TERMS_REQUIRED")
            }
        }
    }

    @Test("A custom response handler can poll at its own interval, and the app gets the final status")
    func ownPolling() async throws {
        try await withClassicSandbox(.classic("sign_on_policy: two-factors")) { sandbox in
            let phone = try await sandbox.phone(for: SandboxUser.jane.login)
            let clock = ManualClock()
            let handler = PatientHandler(clock: clock)
            let start = OktaAuthStatusUnauthenticated(oktaDomain: sandbox.origin, responseHandler: handler)
            let required = try #require(try await signIn(start) as? OktaAuthStatusFactorRequired)
            let factor = try #require(required.availableFactors.first)
            let end = Task { try await call { required.selectFactor(factor, onStatusChange: $0, onError: $1) } is OktaAuthStatusSuccess }
            for _ in 0..<2 {
                await clock.sleepers(1)
                #expect(clock.waits == [2])
                clock.advance(by: 2)
            }
            await clock.sleepers(1)
            try await phone.approveNext(within: .patience)
            clock.advance(by: 2)
            #expect(try await end.value)
            #expect(handler.count == 3)
        }
    }

    @Test("An app's own HTTP implementation sends each request of a classic sign-in and can add headers")
    func ownHTTP() async throws {
        try await withClassicSandbox(.classic("sign_on_policy: two-factors")) { sandbox in
            let app = try await sandbox.authenticatorApp(for: SandboxUser.jane.login)
            let http = AppHTTP(adding: ["X-App-Release": "7"])
            let start = OktaAuthStatusUnauthenticated(oktaDomain: sandbox.origin)
            start.restApi.httpRequestListener = http
            sandbox.clearRequests()
            let required = try #require(try await signIn(start) as? OktaAuthStatusFactorRequired)
            let totp = try #require(required.availableFactors.first as? OktaFactorTotp)
            #expect(try await totp.select(passCode: app.code) is OktaAuthStatusSuccess)
            #expect(http.journal.count == 2 && http.journal.first == "POST /api/v1/authn 200")
            #expect(http.journal.last?.hasSuffix("/verify 200") == true)
            #expect(sandbox.requests.map { $0.headers["x-app-release"] } == ["7", "7"])
        }
    }
}
