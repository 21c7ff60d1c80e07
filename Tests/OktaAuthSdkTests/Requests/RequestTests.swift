import Foundation
import OktaAuthSdk
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@MainActor
@Suite("Requests of the classic API")
struct RequestTests {
    @Test("Each request to the classic API has content type and accept headers, is not cached, and times out after a minute")
    func headers() async throws {
        let org = try Org()
        _ = try await org.status(OktaAuthStatusSuccess.self, Answers.success)
        let last = try org.last
        #expect(last.header("Accept") == "application/json")
        #expect(last.header("Content-Type") == "application/json")
        #expect(last.header("User-Agent")?.contains("okta-auth-swift/\(sdkVersion()) ") == true)
        #expect(last.header("Cookie") == nil && last.header("Authorization") == nil)
        #expect(last.request.timeoutInterval == 60)
        #expect(last.request.cachePolicy == .reloadIgnoringLocalCacheData)
    }

    @Test(
        "Request paths are relative to the organization's URL, without the path of an issuer",
        arguments: [
            ("https://id.example.test", "https://id.example.test/api/v1/authn"),
            ("https://id.example.test/", "https://id.example.test/api/v1/authn"),
            ("https://id.example.test:8443/tenant", "https://id.example.test:8443/tenant/api/v1/authn"),
            ("https://id.example.test/oauth2/default", "https://id.example.test/api/v1/authn"),
            ("http://localhost:8080/", "http://localhost:8080/api/v1/authn"),
        ])
    func paths(domain: String, url: String) async throws {
        let org = try Org(domain)
        _ = try await org.status(OktaAuthStatusSuccess.self, Answers.success)
        #expect(try org.last.url == url)
    }

    @Test(
        "A sign-in fails without a request if the organization's URL is not https and not on loopback",
        arguments: ["http://id.example.test", "ftp://id.example.test", "id.example.test"])
    func plain(domain: String) async throws {
        let org = try Org(domain)
        org.server.answer(Answers.success)
        await #expect {
            _ = try await org.start.authenticate(username: "ana", password: "x")
        } throws: {
            if case OktaError.errorBuildingURLRequest = $0 { true } else { false }
        }
        #expect(org.server.arrivals.isEmpty)
    }

    @Test("The SDK keeps the query of a link from a response, and appends its own parameters to it")
    func links() async throws {
        let org = try Org()
        let status = try await org.status(
            OktaAuthStatusFactorChallenge.self,
            Answers.challenge("sms").replacing("/factors/fac1/verify", with: "/factors/fac1/verify?tenant=a%20b"))
        org.server.answer(Answers.challenge("sms"))
        _ = try await status.verifyFactor(passCode: "1")
        #expect(try org.last.url == "https://id.example.test/api/v1/authn/factors/fac1/verify?tenant=a%20b")
        status.rememberDevice = true
        org.server.answer(Answers.success)
        _ = try await status.verifyFactor(passCode: "1")
        #expect(try org.last.query == "tenant=a%20b&rememberDevice=true")
        status.rememberDevice = nil
        let plain = try await org.status(OktaAuthStatusFactorChallenge.self, Answers.challenge("sms"))
        org.server.answer(Answers.success)
        _ = try await plain.verifyFactor(passCode: "1")
        #expect(try org.last.url == "https://id.example.test/api/v1/authn/factors/fac1/verify")
    }

    @Test("rememberDevice is sent with each factor request, and autoPush only with requests for a push factor")
    func wishes() async throws {
        let org = try Org()
        let required = try await org.status(
            OktaAuthStatusFactorRequired.self, Answers.required(Answers.selectable("push"), Answers.selectable("sms", id: "fac2")))
        #expect(required.canRememberDevice)
        required.rememberDevice = true
        required.autoPush = false
        org.server.answer(Answers.challenge("push", next: "poll", result: "WAITING"))
        let challenge = try #require(try await required.availableFactors.first?.select() as? OktaAuthStatusFactorChallenge)
        #expect(try org.last.query == "autoPush=false&rememberDevice=true")
        #expect(challenge.rememberDevice == true)
        org.server.answer(Answers.success)
        _ = try await (challenge.factor as? OktaFactorPush)?.checkFactorResult()
        #expect(try org.last.query == "autoPush=false&rememberDevice=true")
        org.server.answer(Answers.challenge("sms", id: "fac2"))
        _ = try await required.availableFactors.last?.select()
        #expect(try org.last.query == "rememberDevice=true")
        #expect(try await !org.status(OktaAuthStatusSuccess.self, Answers.success).canRememberDevice)
    }

    @Test("The device token is sent as a cookie to the organization, but not to other hosts")
    func deviceToken() async throws {
        let org = try Org()
        let name = OktaAPI.makeDeviceToken()
        #expect(name.count == 32 && name.allSatisfy { $0.isHexDigit })
        #expect(name != OktaAPI.makeDeviceToken())
        org.start.restApi.deviceToken = name
        let status = try await org.status(OktaAuthStatusFactorChallenge.self, Answers.challenge("sms"))
        #expect(try org.last.header("Cookie") == "DT=\(name)")
        org.server.answer(Answers.success)
        _ = try await status.verifyFactor(passCode: "1")
        #expect(try org.last.header("Cookie") == "DT=\(name)")
        org.server.answer("{}")
        let elsewhere = try #require(URL(string: "https://elsewhere.example.test/qr"))
        _ = org.start.restApi.sendHttpRequest(with: elsewhere, method: .get, onCompletion: { _ in }, onError: { _ in })
        #expect(try org.last.header("Cookie") == nil)
        org.server.answer(Answers.success)
        org.start.restApi.primaryAuthentication(username: "ana", password: "x", deviceToken: "given", deviceFingerprint: "print")
        #expect(try org.last.header("Cookie") == "DT=given")
        #expect(try org.last.header("X-Device-Fingerprint") == "print")
    }

    @Test("A request whose header value contains a line break fails and is not sent")
    func headerInjection() async throws {
        let org = try Org()
        org.start.restApi.deviceToken = "a\r\nAuthorization: SSWS x"
        await #expect {
            _ = try await org.start.authenticate(username: "ana", password: "x")
        } throws: {
            if case OktaError.errorBuildingURLRequest = $0 { true } else { false }
        }
        #expect(org.server.arrivals.isEmpty)
    }

    @Test("Each function of OktaAPI sends the documented request")
    func functions() async throws {
        let org = try Org()
        let api = org.start.restApi
        let link = try JSONDecoder().decode(
            LinksResponse.Link.self, from: Data(#"{"href":"https://id.example.test/api/v1/authn/link"}"#.utf8))
        let factor = try JSONDecoder().decode(EmbeddedResponse.Factor.self, from: Data(Answers.enrollable("sms").utf8))
        let rows: [(String, (OktaAPI) -> OktaAPIRequest)] = [
            (
                #"POST /credentials/change_password {"newPassword":"n","oldPassword":"o","stateToken":"s"}"#,
                { $0.changePassword(stateToken: "s", oldPassword: "o", newPassword: "n") }
            ),
            (
                #"POST /link {"newPassword":"n","oldPassword":"o","stateToken":"s"}"#,
                { $0.changePassword(link: link, stateToken: "s", oldPassword: "o", newPassword: "n") }
            ),
            (
                #"POST /link {"newPassword":"n","revokeSessions":true,"stateToken":"s"}"#,
                { $0.setPassword(link: link, stateToken: "s", newPassword: "n", revokeSessions: true) }
            ),
            (#"POST /cancel {"stateToken":"s"}"#, { $0.cancelTransaction(stateToken: "s") }),
            (#"POST /link {"stateToken":"s"}"#, { $0.perform(link: link, stateToken: "s") }),
            (
                #"POST /factors/a%2Fb/verify {"passCode":"1","stateToken":"s"}"#,
                { $0.verifyFactor(factorId: "a/b", stateToken: "s", passCode: "1") }
            ),
            (
                #"POST /factors/f/verify {"answer":"a","stateToken":"s"}"#,
                { $0.verifyFactor(factorId: "f", stateToken: "s", answer: "a", rememberDevice: true, autoPush: false) }
            ),
            (
                #"POST /link {"factorType":"sms","profile":{"answer":"a","question":"q"},"provider":"OKTA","stateToken":"s"}"#,
                {
                    $0.enrollFactor(
                        factor, with: link, stateToken: "s", phoneNumber: nil, questionId: "q", answer: "a", credentialId: nil,
                        passCode: nil)
                }
            ),
            (#"POST /link {"profile":{},"stateToken":"s"}"#, { $0.sendActivationLink(link: link, stateToken: "s") }),
            (
                #"POST  {"options":{"multiOptionalFactorEnroll":true,"warnBeforePasswordExpired":true},"token":"t"}"#,
                { $0.primaryAuthentication(username: nil, password: nil, token: "t") }
            ),
            (#"PUT /link {"a":1}"#, { $0.sendApiRequest(with: link, bodyParams: ["a": 1], method: .put) }),
        ]
        for (sent, call) in rows {
            org.server.answer("{}")
            _ = call(api)
            #expect(try org.lastSent == sent)
        }
        api.sendApiRequest(with: link, bodyParams: ["a": 1], method: .get)
        #expect(try org.lastSent == "GET /link ")
        #expect(org.server.arrivals.compactMap(\.query) == ["autoPush=false&rememberDevice=true"])
    }

    @Test("The app can build and run a custom OktaAPIRequest")
    func byHand() async throws {
        let org = try Org()
        org.server.answer(Answers.lockedOut)
        let answer = try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<AuthStatus?, any Error>) in
            let request = OktaAPIRequest(
                baseURL: org.start.restApi.oktaDomain, urlSession: org.start.restApi.urlSession, httpClient: org.server
            ) { request, result in
                switch result {
                case .success(let answer): continuation.resume(returning: answer.status)
                case .error(let error): continuation.resume(throwing: error)
                }
            }
            request.path = "/api/v1/own"
            request.urlParams = ["b": "2 3", "a": "1"]
            request.additionalHeaders = ["X-Own": "yes"]
            request.run()
        }
        #expect(answer == .lockedOut)
        let last = try org.last
        #expect(last.url == "https://id.example.test/api/v1/own?a=1&b=2%203")
        #expect(last.header("X-Own") == "yes")
        #expect(last.method == "POST")
        #expect(last.request.httpBody == Data())
    }

    @Test("A session token can be exchanged for a session, or used in the URL of a page that sets the session cookie")
    func sessions() async throws {
        let org = try Org("https://id.example.test/oauth2/default")
        let success = try await org.status(OktaAuthStatusSuccess.self, Answers.success)
        org.server.answer(#"{"id":"sid-1","login":"ana@example.test","userId":"00uAna","status":"ACTIVE","amr":["pwd"]}"#)
        let session = try await success.createSession()
        #expect(session.login == "ana@example.test" && session.id == "sid-1" && session.amr == ["pwd"])
        #expect(try org.last.path == "/api/v1/sessions")
        #expect(try org.last.body == #"{"sessionToken":"session-1"}"#)
        org.server.answer(Answers.refusal("E0000011", "Invalid token"), status: 401)
        await #expect { _ = try await success.createSession() } throws: { refusalCode($0) == "E0000011" }
        let page = success.sessionCookieRedirect(to: try #require(URL(string: "https://app.example.test/home?a=1&b=2+3")))
        #expect(
            page?.absoluteString == "https://id.example.test/login/sessionCookieRedirect?token=session-1"
                + "&redirectUrl=https%3A%2F%2Fapp.example.test%2Fhome%3Fa%3D1%26b%3D2%2B3")
    }
}
