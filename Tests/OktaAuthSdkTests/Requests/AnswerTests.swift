import Foundation
import OktaAuthSdk
import Testing

@MainActor
@Suite("Responses of the classic API")
struct AnswerTests {
    @Test("A server error of the classic API contains the code, the causes, the HTTP status, the IDs and the end of the rate limit")
    func refusal() async throws {
        let org = try Org()
        org.server.answer(
            Answers.refusal("E0000047", "API call exceeded rate limit", causes: ["one", "two"]), status: 429,
            headers: ["X-Rate-Limit-Reset": "1900000000", "X-Okta-Request-Id": "req-1"])
        await #expect {
            _ = try await org.start.authenticate(username: "ana", password: "x")
        } throws: { error in
            guard case OktaError.serverRespondedWithError(let refusal) = error else { return false }
            #expect(refusal.errorCode == "E0000047")
            #expect(refusal.errorSummary == "API call exceeded rate limit")
            #expect(refusal.errorLink == "E0000047")
            #expect(refusal.errorId == "oae1")
            #expect(refusal.errorCauses?.map(\.errorSummary) == ["one", "two"])
            #expect(refusal.statusCode == 429)
            #expect(refusal.rateLimitReset == Date(timeIntervalSince1970: 1_900_000_000))
            #expect((error as? OktaError)?.description == "one; two")
            #expect(refusal.requestId == "req-1")
            #expect(
                (error as? OktaError)?.debugDescription
                    == "API call exceeded rate limit one two (E0000047, status 429, error oae1, request req-1)")
            return true
        }
    }

    @Test("A server error without causes is described by its summary, or by a default text if the summary is missing")
    func texts() async throws {
        let org = try Org()
        for (body, text) in [
            (Answers.refusal("E0000004", "Authentication failed"), "Authentication failed"),
            ("{}", "The server refused, and gave no reason."),
        ] {
            org.server.answer(body, status: 401)
            await #expect { _ = try await org.start.authenticate(username: "ana", password: "x") } throws: {
                ($0 as? OktaError)?.description == text
            }
        }
    }

    @Test("A connection failure, an empty response and a response without JSON cause different errors")
    func noAnswers() async throws {
        let org = try Org()
        func error() async -> OktaError? {
            do {
                _ = try await org.start.authenticate(username: "ana", password: "x")
                return nil
            } catch {
                return error as? OktaError
            }
        }
        org.server.answer(nil, failure: .timedOut)
        guard case .connectionError = await error() else { return #expect(Bool(false), "no connection error") }
        org.server.answer(nil)
        guard case .emptyServerResponse = await error() else { return #expect(Bool(false), "no data") }
        org.server.answer("")
        guard case .emptyServerResponse = await error() else { return #expect(Bool(false), "an empty body") }
        org.server.answer("<html>secret-body</html>")
        guard case .responseSerializationError(_, let data) = await error() else { return #expect(Bool(false), "no JSON") }
        #expect(data == Data("<html>secret-body</html>".utf8))
        org.server.answer("<html>secret-body</html>", status: 502)
        guard case .responseSerializationError = await error() else { return #expect(Bool(false), "no JSON in a refusal") }
    }

    @Test("No description of a response or an error of the classic API contains a token, a secret or a response body")
    func nothingSecret() async throws {
        let org = try Org()
        let secret = Answers.activation("token:software:totp", embedded: #"{"sharedSecret":"MFXGCLLSOVUXUMJS","encoding":"base32"}"#)
        let status = try await org.status(OktaAuthStatusFactorEnrollActivate.self, secret)
        var shown = ""
        dump(status.model, to: &shown)
        shown += "\(status.model)" + String(reflecting: status.model)
        dump(status.factor.factor, to: &shown)
        shown += String(reflecting: status.factor.factor)
        let session = try JSONDecoder().decode(OktaSession.self, from: Data(#"{"id":"sid-secret","login":"ana"}"#.utf8))
        dump(session, to: &shown)
        shown += "\(session)"
        let errors: [OktaError] = [
            .unknownStatus(status.model), .responseSerializationError(URLError(.badServerResponse), Data(secret.utf8)),
        ]
        for error in errors {
            shown += "\(error)" + error.localizedDescription + String(reflecting: error)
            dump(error, to: &shown)
        }
        #expect(shown.contains("MFA_ENROLL_ACTIVATE"))
        for word in ["state-1", "MFXGCLLSOVUXUMJS", "sid-secret"] { #expect(!shown.contains(word)) }
    }

    @Test("Responses of the classic API are decoded in the variants that other servers send")
    func lenient() async throws {
        let org = try Org()
        let listed = Answers.transaction(
            "MFA_REQUIRED", embedded: #""factor":[\#(Answers.selectable("sms")),\#(Answers.selectable("push"))]"#)
        #expect(try await org.status(OktaAuthStatusFactorRequired.self, listed).availableFactors.map(\.type) == [.sms, .push])
        let bareLink = Answers.transaction(
            "MFA_REQUIRED", embedded: #""factors":[]"#, links: [#""cancel":{"href":"https://id.example.test/c"}"#])
        #expect(try await org.status(OktaAuthStatusFactorRequired.self, bareLink).links?.cancel?.hints.isEmpty == true)
        let text = Answers.transaction("PASSWORD_EXPIRED", embedded: #""policy":{"complexity":{"excludeUsername":"true","minLength":8}}"#)
        #expect(try await org.status(OktaAuthStatusPasswordExpired.self, text).passwordComplexity?.excludeUsername == true)
        let call = Answers.recoveryChallenge.replacing(#""factorType":"SMS""#, with: #""factorType":"CALL""#)
        #expect(try await org.status(OktaAuthStatusRecoveryChallenge.self, call).factorType == .call)
        let unknown = Answers.challenge("sms", result: "SOMETHING_NEW")
        #expect(try await org.status(OktaAuthStatusFactorChallenge.self, unknown).factorResult == .unknown("SOMETHING_NEW"))
    }

    @Test(
        "A date is decoded with and without fractional seconds, in any time zone format",
        arguments: [
            "2031-02-01T08:00:00.000Z", "2031-02-01T08:00:00Z", "2031-02-01T08:00:00.000+0000", "2031-02-01T09:00:00.000+01:00",
        ])
    func dates(text: String) async throws {
        let org = try Org()
        let answer = Answers.success.replacing("2031-02-01T08:00:00.000Z", with: text)
        #expect(
            try await org.status(OktaAuthStatusSuccess.self, answer).user?.passwordChanged == Date(timeIntervalSince1970: 1_927_699_200))
    }

    @Test("Policies in responses, and the target and the issuer of a step-up response, are decoded")
    func embedded() async throws {
        let org = try Org()
        let required = try await org.status(OktaAuthStatusFactorRequired.self, Answers.required(Answers.selectable("push")))
        guard case .rememberDevice(let policy)? = required.model.embedded?.policy else { return #expect(Bool(false), "no policy") }
        #expect(policy.allowRememberDevice && policy.rememberDeviceByDefault == false && policy.rememberDeviceLifetimeInMinutes == 0)
        #expect(policy.factorsPolicyInfo?["fac1"]?.autoPushEnabled == true)
        let expired = try await org.status(OktaAuthStatusPasswordExpired.self, Answers.passwordExpired)
        guard case .password(let password)? = expired.model.embedded?.policy else { return #expect(Bool(false), "no policy") }
        #expect(password.age?.historyCount == 3 && password.age?.minAgeMinutes == 0 && password.complexity?.minSymbol == 0)
        #expect(expired.model.expirationDate == "2031-05-04T10:20:30.000Z")
        let stepUp = try await org.status(
            OktaAuthStatusSuccess.self,
            #"""
            {"status":"SUCCESS","relayState":"there","_embedded":{"target":{"type":"APP","name":"payroll","label":"Payroll"},
            "authentication":{"protocol":"SAML2.0","issuer":{"id":"0oaPay","name":"Payroll","uri":"exkPay"}}}}
            """#)
        #expect(stepUp.model.relayState == "there")
        #expect(stepUp.model.embedded?.target?.label == "Payroll")
        #expect(stepUp.model.embedded?.authentication?.authProtocol == .saml_2_0)
        #expect(stepUp.model.embedded?.authentication?.issuer?.uri == "exkPay")
    }

    @Test("A decoded response of the classic API has the same values after it is encoded and decoded again")
    func roundTrip() throws {
        for text in [Answers.success, Answers.passwordExpired, Answers.required(Answers.selectable("push")), Answers.recoveryChallenge] {
            let first = try JSONDecoder().decode(OktaAPISuccessResponse.self, from: Data(text.utf8))
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            let written = try encoder.encode(first)
            let again = try JSONDecoder().decode(OktaAPISuccessResponse.self, from: written)
            #expect(try encoder.encode(again) == written)
            #expect(again.stateToken == first.stateToken && again.status == first.status)
            #expect(
                again.embedded?.user == first.embedded?.user && again.links == first.links
                    && again.embedded?.policy == first.embedded?.policy)
        }
    }

    @Test("Documented values of a response are recognized, and an unknown value or spelling is kept unchanged")
    func words() {
        #expect(FactorType(raw: "SMS") == .sms && FactorType(raw: "Web") == .web && FactorType(raw: "EMAIL") == .email)
        #expect(FactorType(raw: "Push") == .unknown("Push"))
        #expect(FactorType.TOTP.rawValue == "token:software:totp" && FactorType.tokenHardware.rawValue == "token:hardware")
        #expect(AuthStatus(raw: "MFA_ENROLL_ACTIVATE") == .MFAEnrollActivate && AuthStatus.MFARequired.rawValue == "MFA_REQUIRED")
        #expect(AuthStatus(raw: "success") == .unknown("success") && AuthStatus.unknown("X").rawValue == "X")
        #expect(FactorProvider(raw: "SYMANTEC") == .symantec && FactorProvider(raw: "CUSTOM") == .unknown("CUSTOM"))
        #expect(OktaAPISuccessResponse.RecoveryType(raw: "ACCOUNT_ACTIVATION") == .unknown("ACCOUNT_ACTIVATION"))
        #expect(OktaAPISuccessResponse.FactorResult(raw: "PASSCODE_REPLAYED") == .passcodeReplayed)
        #expect(EmbeddedResponse.AuthenticationObject.AuthProtocol(raw: "WS-FED") == .ws_fed)
    }
}
