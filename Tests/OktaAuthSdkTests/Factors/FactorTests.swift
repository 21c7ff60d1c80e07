import Foundation
import OktaAuthSdk
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@MainActor
@Suite("Factors of the classic API")
struct FactorTests {
    /// Enrolls a factor of a kind, and returns the sent request.
    private func enrolling<Factor: OktaFactor>(
        _ type: Factor.Type, _ described: String, next: String, _ enroll: @MainActor (Factor) async throws -> OktaAuthStatus
    ) async throws -> (sent: String, status: OktaAuthStatus) {
        let org = try Org()
        let status = try await org.status(OktaAuthStatusFactorEnroll.self, Answers.enroll(described))
        let factor = try #require(status.availableFactors.first as? Factor)
        #expect(status.canEnrollFactor(factor: factor))
        #expect(factor.canEnroll() && !factor.canSelect() && !factor.canVerify() && !factor.canActivate())
        #expect(factor.enrollment == "OPTIONAL")
        #expect(factor.status == "NOT_SETUP")
        org.server.answer(next)
        let after = try await enroll(factor)
        return (try org.lastSent, after)
    }

    /// Returns the only factor in a list.
    private func required<Factor: OktaFactor>(_ org: Org, _ type: Factor.Type, _ described: String) async throws -> Factor {
        let status = try await org.status(OktaAuthStatusFactorRequired.self, Answers.required(described))
        let factor = try #require(status.availableFactors.first as? Factor)
        #expect(factor.canSelect() && !factor.canVerify() && !factor.canEnroll() && !factor.canActivate())
        return factor
    }

    @Test(
        "Each factor type is represented by its class, and unknown types by OktaFactorOther",
        arguments: [
            ("sms", "OktaFactorSms"), ("call", "OktaFactorCall"), ("push", "OktaFactorPush"), ("question", "OktaFactorQuestion"),
            ("token", "OktaFactorToken"), ("token:software:totp", "OktaFactorTotp"), ("email", "OktaFactorOther"),
            ("u2f", "OktaFactorOther"),
            ("token:hardware", "OktaFactorOther"), ("web", "OktaFactorOther"), ("webauthn", "OktaFactorOther"),
            ("something:new", "OktaFactorOther"),
        ])
    func classes(word: String, name: String) async throws {
        let org = try Org()
        let status = try await org.status(OktaAuthStatusFactorRequired.self, Answers.required(Answers.selectable(word)))
        let factor = try #require(status.availableFactors.first)
        #expect(String(describing: type(of: factor)) == name)
        #expect(factor.type.rawValue == word)
        #expect(factor.provider == .okta)
        #expect(factor.responseDelegate === status)
    }

    @Test("A text message factor can be enrolled, activated, selected and verified, and its code can be sent again")
    func sms() async throws {
        let enrolled = try await enrolling(OktaFactorSms.self, Answers.enrollable("sms"), next: Answers.activation("sms", resends: true)) {
            try await $0.enroll(phoneNumber: "+34600111512")
        }
        #expect(
            enrolled.sent
                == #"POST /factors {"factorType":"sms","profile":{"phoneNumber":"+34600111512"},"provider":"OKTA","stateToken":"state-1"}"#)
        let org = try Org()
        let activate = try await org.status(OktaAuthStatusFactorEnrollActivate.self, Answers.activation("sms", resends: true))
        #expect(activate.canResend() && activate.canResend(factor: activate.factor) && !activate.canPoll())
        #expect(activate.factor.canActivate() && !activate.factor.canVerify())
        #expect(activate.activateLink.name == "activate")
        org.server.answer(Answers.activation("sms", resends: true))
        _ = try await activate.resendFactor()
        #expect(try org.lastSent == #"POST /factors/fac1/lifecycle/resend {"stateToken":"state-1"}"#)
        org.server.answer(Answers.success)
        #expect(try await activate.activateFactor(passCode: "123456") is OktaAuthStatusSuccess)
        #expect(try org.lastSent == #"POST /factors/fac1/lifecycle/activate {"passCode":"123456","stateToken":"state-1"}"#)

        let factor = try await required(
            org, OktaFactorSms.self, Answers.selectable("sms", profile: #"{"phoneNumber":"+34 XXX-XX-1512"}"#))
        #expect(factor.phoneNumber == "+34 XXX-XX-1512")
        org.server.answer(Answers.challenge("sms", resends: true))
        let challenge = try #require(try await factor.select() as? OktaAuthStatusFactorChallenge)
        #expect(try org.lastSent == #"POST /factors/fac1/verify {"stateToken":"state-1"}"#)
        #expect(challenge.canVerify() && challenge.canResend() && !challenge.canPoll())
        org.server.answer(Answers.challenge("sms", resends: true))
        _ = try await challenge.resendFactor()
        #expect(try org.lastSent == #"POST /factors/fac1/verify/resend {"stateToken":"state-1"}"#)
        org.server.answer(Answers.success)
        #expect(try await challenge.verifyFactor(passCode: "123456") is OktaAuthStatusSuccess)
        #expect(try org.lastSent == #"POST /factors/fac1/verify {"passCode":"123456","stateToken":"state-1"}"#)
        org.server.answer(Answers.success)
        _ = try await (challenge.factor as? OktaFactorSms)?.verify(passCode: "654321")
        #expect(try org.lastSent == #"POST /factors/fac1/verify {"passCode":"654321","stateToken":"state-1"}"#)
    }

    @Test("A call factor can be enrolled with a new or a known number, and verified")
    func call() async throws {
        let enrolled = try await enrolling(OktaFactorCall.self, Answers.enrollable("call"), next: Answers.activation("call")) {
            try await $0.enroll(phoneNumber: "+34600111512")
        }
        #expect(
            enrolled.sent
                == #"POST /factors {"factorType":"call","profile":{"phoneNumber":"+34600111512"},"provider":"OKTA","stateToken":"state-1"}"#
        )
        let known = try await enrolling(OktaFactorCall.self, Answers.enrollable("call"), next: Answers.activation("call")) {
            try await $0.enroll(phoneNumber: nil)
        }
        #expect(known.sent == #"POST /factors {"factorType":"call","profile":{},"provider":"OKTA","stateToken":"state-1"}"#)
        let org = try Org()
        let challenge = try await org.status(OktaAuthStatusFactorChallenge.self, Answers.challenge("call"))
        org.server.answer(Answers.success)
        _ = try await (challenge.factor as? OktaFactorCall)?.verify(passCode: "123456")
        #expect(try org.lastSent == #"POST /factors/fac1/verify {"passCode":"123456","stateToken":"state-1"}"#)
    }

    @Test("An authenticator app shows secret and QR code, and can be activated, selected with its code, and verified")
    func totp() async throws {
        let activation = #"""
            {"timeStep":30,"sharedSecret":"MFXGCLLSOVUXUMJS","encoding":"base32","keyLength":6,"_links":{"qrcode":
            {"href":"https://id.example.test/api/v1/users/00uAna/factors/fac1/qr/20Qr7x","type":"image/png"}}}
            """#
        let enrolled = try await enrolling(
            OktaFactorTotp.self, Answers.enrollable("token:software:totp", provider: "GOOGLE"),
            next: Answers.activation("token:software:totp", embedded: activation)
        ) {
            try await $0.enroll()
        }
        #expect(
            enrolled.sent
                == #"POST /factors {"factorType":"token:software:totp","profile":{},"provider":"GOOGLE","stateToken":"state-1"}"#)
        let waiting = try #require((enrolled.status as? OktaAuthStatusFactorEnrollActivate)?.factor as? OktaFactorTotp)
        #expect(waiting.activation?.sharedSecret == "MFXGCLLSOVUXUMJS")
        #expect(waiting.activation?.timeStep == 30 && waiting.activation?.keyLength == 6 && waiting.activation?.encoding == "base32")
        #expect(waiting.qrCodeLink?.type == "image/png")
        #expect(waiting.activationLinks?.qrcode?.href.lastPathComponent == "20Qr7x")

        let org = try Org()
        let activate = try await org.status(OktaAuthStatusFactorEnrollActivate.self, Answers.activation("token:software:totp"))
        org.server.answer(Answers.success)
        _ = try await (activate.factor as? OktaFactorTotp)?.activate(passCode: "123456")
        #expect(try org.lastSent == #"POST /factors/fac1/lifecycle/activate {"passCode":"123456","stateToken":"state-1"}"#)
        let factor = try await required(org, OktaFactorTotp.self, Answers.selectable("token:software:totp"))
        org.server.answer(Answers.success)
        #expect(try await factor.select(passCode: "123456") is OktaAuthStatusSuccess)
        #expect(try org.lastSent == #"POST /factors/fac1/verify {"passCode":"123456","stateToken":"state-1"}"#)
        let challenge = try await org.status(OktaAuthStatusFactorChallenge.self, Answers.challenge("token:software:totp"))
        org.server.answer(Answers.success)
        _ = try await (challenge.factor as? OktaFactorTotp)?.verify(passCode: "654321")
        #expect(try org.lastSent == #"POST /factors/fac1/verify {"passCode":"654321","stateToken":"state-1"}"#)
    }

    @Test("A security question can be enrolled with its answer, selected, and answered")
    func question() async throws {
        let questions = Answers.link("questions", "/../users/00uAna/factors/questions", method: "GET")
        let enrolled = try await enrolling(
            OktaFactorQuestion.self, Answers.enrollable("question", links: [questions]), next: Answers.success
        ) {
            try await $0.enroll(questionId: "first_boat", answer: "Annie")
        }
        #expect(
            enrolled.sent == #"POST /factors {"factorType":"question","profile":{"answer":"Annie","question":"first_boat"},"#
                + #""provider":"OKTA","stateToken":"state-1"}"#)
        let org = try Org()
        let enroll = try await org.status(
            OktaAuthStatusFactorEnroll.self, Answers.enroll(Answers.enrollable("question", links: [questions])))
        let factor = try #require(enroll.availableFactors.first as? OktaFactorQuestion)
        org.server.answer(#"[{"question":"first_boat","questionText":"What was the name of your first boat?"}]"#)
        let list = try await factor.downloadSecurityQuestions()
        #expect(list.map(\.question) == ["first_boat"])
        #expect(list.map(\.questionText) == ["What was the name of your first boat?"])
        #expect(try org.last.method == "GET")
        #expect(try org.last.request.httpBody == nil)
        org.server.answer(#"{"no":"list"}"#)
        await #expect {
            _ = try await factor.downloadSecurityQuestions()
        } throws: {
            if case OktaError.responseSerializationError = $0 { true } else { false }
        }
        let picked = try await required(
            org, OktaFactorQuestion.self,
            Answers.selectable("question", profile: #"{"question":"first_boat","questionText":"Your first boat?"}"#))
        #expect(picked.factorQuestionId == "first_boat")
        #expect(picked.factorQuestionText == "Your first boat?")
        await #expect { _ = try await picked.downloadSecurityQuestions() } throws: { isWrongStatus($0) }
        org.server.answer(Answers.success)
        _ = try await picked.select(answerToSecurityQuestion: "Annie")
        #expect(try org.lastSent == #"POST /factors/fac1/verify {"answer":"Annie","stateToken":"state-1"}"#)
        let challenge = try await org.status(OktaAuthStatusFactorChallenge.self, Answers.challenge("question"))
        org.server.answer(Answers.success)
        _ = try await (challenge.factor as? OktaFactorQuestion)?.verify(answerToSecurityQuestion: "Annie")
        #expect(try org.lastSent == #"POST /factors/fac1/verify {"answer":"Annie","stateToken":"state-1"}"#)
        org.server.answer(Answers.success)
        _ = try await challenge.verifyFactor(answerToSecurityQuestion: "Annie")
        #expect(try org.lastSent == #"POST /factors/fac1/verify {"answer":"Annie","stateToken":"state-1"}"#)
    }

    @Test("A token factor can be enrolled with one or two codes, selected with a code, and verified")
    func token() async throws {
        let enrolled = try await enrolling(OktaFactorToken.self, Answers.enrollable("token", provider: "RSA"), next: Answers.success) {
            try await $0.enroll(credentialId: "ana", passCode: "1234567890")
        }
        #expect(
            enrolled.sent == #"POST /factors {"factorType":"token","passCode":"1234567890","profile":{"credentialId":"ana"},"#
                + #""provider":"RSA","stateToken":"state-1"}"#)
        let twice = try await enrolling(OktaFactorToken.self, Answers.enrollable("token", provider: "SYMANTEC"), next: Answers.success) {
            try await $0.enroll(credentialId: "VSMT1", passCode: "111111", nextPassCode: "222222")
        }
        #expect(
            twice.sent == #"POST /factors {"factorType":"token","nextPassCode":"222222","passCode":"111111","#
                + #""profile":{"credentialId":"VSMT1"},"provider":"SYMANTEC","stateToken":"state-1"}"#)
        let org = try Org()
        let factor = try await required(
            org, OktaFactorToken.self, Answers.selectable("token", provider: "RSA", profile: #"{"credentialId":"ana"}"#))
        #expect(factor.credentialId == "ana")
        #expect(factor.factorProvider == .rsa)
        org.server.answer(Answers.success)
        #expect(try await factor.select(passCode: "123456") is OktaAuthStatusSuccess)
        #expect(try org.lastSent == #"POST /factors/fac1/verify {"passCode":"123456","stateToken":"state-1"}"#)
        let challenge = try await org.status(OktaAuthStatusFactorChallenge.self, Answers.challenge("token"))
        org.server.answer(Answers.success)
        _ = try await (challenge.factor as? OktaFactorToken)?.verify(passCode: "654321")
        #expect(try org.lastSent == #"POST /factors/fac1/verify {"passCode":"654321","stateToken":"state-1"}"#)
    }

    @Test("A hardware token can be enrolled with only a code")
    func hardwareToken() async throws {
        let enrolled = try await enrolling(
            OktaFactorOther.self, Answers.enrollable("token:hardware", provider: "YUBICO"), next: Answers.success
        ) {
            try await $0.enroll(questionId: nil, answer: nil, credentialId: nil, passCode: "cccccc", phoneNumber: nil)
        }
        #expect(
            enrolled.sent == #"POST /factors {"factorType":"token:hardware","passCode":"cccccc","profile":{},"#
                + #""provider":"YUBICO","stateToken":"state-1"}"#)
    }

    @Test("For a factor of an unknown type, the app can send its own request body, and the response becomes a status")
    func other() async throws {
        let org = try Org()
        let factor = try await required(org, OktaFactorOther.self, Answers.selectable("u2f", provider: "FIDO"))
        org.server.answer(Answers.success)
        let status = try await factor.sendRequest(
            with: try #require(factor.links?.verify),
            keyValuePayload: ["stateToken": "state-1", "clientData": "YQ==", "signatureData": "Yg==", "count": 2])
        #expect(status is OktaAuthStatusSuccess)
        #expect(
            try org.lastSent
                == #"POST /factors/fac1/verify {"clientData":"YQ==","count":2,"signatureData":"Yg==","stateToken":"state-1"}"#)
        await #expect {
            _ = try await factor.sendRequest(
                with: try #require(factor.links?.verify), keyValuePayload: ["date": Date(timeIntervalSince1970: 0)])
        } throws: {
            if case OktaError.errorBuildingURLRequest = $0 { true } else { false }
        }
    }

    @Test("If the response has several resend links, a factor uses the link of its own type")
    func resendsItsOwn() async throws {
        let org = try Org()
        let two =
            #""resend":[{"name":"email","href":"\#(Answers.authn)/e","hints":{}},{"name":"sms","href":"\#(Answers.authn)/s","hints":{}}]"#
        let status = try await org.status(
            OktaAuthStatusFactorChallenge.self,
            Answers.transaction("MFA_CHALLENGE", embedded: #""factor":{"id":"fac1","factorType":"sms"}"#, links: [two]))
        org.server.answer(Answers.challenge("sms"))
        _ = try await status.resendFactor()
        #expect(try org.last.path == "/api/v1/authn/s")
        let none = try await org.status(
            OktaAuthStatusFactorChallenge.self,
            Answers.transaction("MFA_CHALLENGE", embedded: #""factor":{"id":"fac1","factorType":"sms"}"#, links: [#""resend":[]"#]))
        #expect(!none.canResend())
    }

    @Test("A factor can still be verified after its status object is released")
    func outlivesItsStatus() async throws {
        let org = try Org()
        org.start.rememberDevice = true
        var status: OktaAuthStatusFactorChallenge? = try await org.status(OktaAuthStatusFactorChallenge.self, Answers.challenge("sms"))
        weak let gone = status
        let factor = try #require(status?.factor as? OktaFactorSms)
        status = nil
        #expect(gone == nil)
        #expect(factor.responseDelegate == nil)
        org.server.answer(Answers.success)
        #expect(try await factor.verify(passCode: "123456") is OktaAuthStatusSuccess)
        #expect(try org.last.query == "rememberDevice=true")
    }

    @Test("A factor that was created without a status object throws an internalError")
    func detached() async throws {
        let described = try JSONDecoder().decode(
            EmbeddedResponse.Factor.self, from: Data(Answers.selectable("sms").utf8))
        let factor = OktaFactor.createFactorWith(described, stateToken: "state-1", verifyLink: nil, activationLink: nil)
        #expect(factor is OktaFactorSms)
        await #expect {
            _ = try await factor.select()
        } throws: {
            if case OktaError.internalError = $0 { true } else { false }
        }
    }
}
