import Foundation
import OktaAuthSdk
import Testing

@MainActor
@Suite("Statuses of the classic API")
struct StatusTests {
    @Test("Each transaction state becomes an instance of its status class")
    func classes() async throws {
        let sms = Answers.selectable("sms")
        let rows: [(String, AuthStatus, OktaAuthStatus.Type)] = [
            (Answers.success, .success, OktaAuthStatusSuccess.self),
            (Answers.passwordWarning, .passwordWarning, OktaAuthStatusPasswordWarning.self),
            (Answers.passwordExpired, .passwordExpired, OktaAuthStatusPasswordExpired.self),
            (Answers.passwordReset, .passwordReset, OktaAuthStatusPasswordReset.self),
            (Answers.recovery, .recovery, OktaAuthStatusRecovery.self),
            (Answers.recoveryChallenge, .recoveryChallenge, OktaAuthStatusRecoveryChallenge.self),
            (Answers.lockedOut, .lockedOut, OktaAuthStatusLockedOut.self),
            (Answers.enroll(Answers.enrollable("sms")), .MFAEnroll, OktaAuthStatusFactorEnroll.self),
            (Answers.activation("sms"), .MFAEnrollActivate, OktaAuthStatusFactorEnrollActivate.self),
            (Answers.required(sms), .MFARequired, OktaAuthStatusFactorRequired.self),
            (Answers.challenge("sms"), .MFAChallenge, OktaAuthStatusFactorChallenge.self),
        ]
        let org = try Org()
        for (answer, type, kind) in rows {
            let status = try await org.status(OktaAuthStatus.self, answer)
            #expect(status.statusType == type)
            #expect(Swift.type(of: status) == kind)
            #expect(status.model.rawData == Data(answer.utf8))
        }
    }

    @Test("A password that expires soon can be changed, or the change can be skipped")
    func warning() async throws {
        let org = try Org()
        let status = try await org.status(OktaAuthStatusPasswordWarning.self, Answers.passwordWarning)
        #expect(status.canChange())
        #expect(status.canSkip())
        #expect(status.canCancel())
        #expect(!status.canReturn())
        #expect(status.passwordExpiration?.passwordExpireDays == 4)
        #expect(status.passwordComplexity?.excludeUsername == true)
        org.server.answer(Answers.success)
        #expect(try await status.changePassword(oldPassword: "old", newPassword: "new").statusType == .success)
        #expect(
            try org.lastSent
                == #"POST /credentials/change_password {"newPassword":"new","oldPassword":"old","stateToken":"state-1"}"#)
        org.server.answer(Answers.success)
        #expect(try await status.skipPasswordChange().statusType == .success)
        #expect(try org.lastSent == #"POST /skip {"stateToken":"state-1"}"#)
    }

    @Test("An expired password can be changed, and the sign-in continues with the next status")
    func expired() async throws {
        let org = try Org()
        let status = try await org.status(OktaAuthStatusPasswordExpired.self, Answers.passwordExpired)
        #expect(status.canChange())
        org.server.answer(Answers.enroll(Answers.enrollable("sms")))
        #expect(try await status.changePassword(oldPassword: "old", newPassword: "new") is OktaAuthStatusFactorEnroll)
        #expect(
            try org.lastSent
                == #"POST /credentials/change_password {"newPassword":"new","oldPassword":"old","stateToken":"state-1"}"#)
    }

    @Test("A recovery leads from the code to the security question, and then to a new password")
    func recovery() async throws {
        let org = try Org()
        let challenge = try await org.status(OktaAuthStatusRecoveryChallenge.self, Answers.recoveryChallenge)
        #expect(challenge.canVerify())
        #expect(challenge.canResend())
        #expect(challenge.factorType == .sms)
        #expect(challenge.recoveryType == .password)
        org.server.answer(Answers.recoveryChallenge)
        _ = try await challenge.resendFactor()
        #expect(try org.lastSent == #"POST /recovery/factors/SMS/resend {"stateToken":"state-1"}"#)
        org.server.answer(Answers.recovery)
        let question = try #require(try await challenge.verifyFactor(passCode: "123456") as? OktaAuthStatusRecovery)
        #expect(try org.lastSent == #"POST /recovery/factors/SMS/verify {"passCode":"123456","stateToken":"state-1"}"#)
        #expect(question.canRecover())
        #expect(question.recoveryQuestion == "Name of your first boat?")
        #expect(question.recoveryType == .password)
        org.server.answer(Answers.passwordReset)
        let reset = try #require(try await question.recoverWithAnswer("Annie") as? OktaAuthStatusPasswordReset)
        #expect(try org.lastSent == #"POST /recovery/answer {"answer":"Annie","stateToken":"state-1"}"#)
        #expect(reset.canReset())
        #expect(reset.passwordComplexity?.minLength == 10)
        #expect(reset.passwordExpiration?.passwordExpireDays == 4)
        // An app can replace the rules, for example in a preview.
        (reset.passwordComplexity, reset.passwordExpiration) = (nil, nil)
        #expect(reset.passwordComplexity == nil && reset.passwordExpiration == nil)
        org.server.answer(Answers.success)
        #expect(try await reset.resetPassword(newPassword: "new") is OktaAuthStatusSuccess)
        #expect(try org.lastSent == #"POST /credentials/reset_password {"newPassword":"new","stateToken":"state-1"}"#)
    }

    @Test("A recovery by mail has no state token, and the app can neither verify nor resend a code")
    func recoveryByMail() async throws {
        let org = try Org()
        let status = try await org.status(OktaAuthStatusRecoveryChallenge.self, Answers.recoveryByMail)
        #expect(status.stateToken == nil)
        #expect(status.factorType == .email)
        #expect(status.recoveryType == .unlock)
        #expect(status.factorResult == .waiting)
        #expect(!status.canVerify() && !status.canResend() && !status.canCancel())
        await #expect { _ = try await status.verifyFactor(passCode: "1") } throws: { isWrongStatus($0) }
        await #expect { _ = try await status.resendFactor() } throws: { isWrongStatus($0) }
    }

    @Test("A recovery that a trusted server started continues with the recovery token, without a state token")
    func trustedRecovery() async throws {
        let org = try Org()
        let status = try await org.status(
            OktaAuthStatusRecovery.self,
            #"{"recoveryToken":"recovery-1","status":"RECOVERY","_links":{"#
                + Answers.link("next", "/recovery/token", name: "recovery") + "}}")
        #expect(status.recoveryToken == "recovery-1")
        org.server.answer(Answers.recovery)
        let next = try #require(try await status.recoverWithToken("recovery-1") as? OktaAuthStatusRecovery)
        #expect(try org.lastSent == #"POST /recovery/token {"recoveryToken":"recovery-1"}"#)
        #expect(next.stateToken == "state-1")
    }

    @Test("A recovery token is sent together with the transaction's state token")
    func recoveryTokens() async throws {
        let org = try Org()
        let status = try await org.status(OktaAuthStatusRecoveryChallenge.self, Answers.recoveryChallenge)
        org.server.answer(Answers.recovery)
        _ = try await status.verifyFactor(recoveryToken: "recovery-1")
        #expect(try org.lastSent == #"POST /recovery/factors/SMS/verify {"recoveryToken":"recovery-1","stateToken":"state-1"}"#)
    }

    @Test("Unlocking a locked-out account starts a new transaction without a state token")
    func lockedOut() async throws {
        let org = try Org()
        let status = try await org.status(OktaAuthStatusLockedOut.self, Answers.lockedOut)
        #expect(status.canUnlock())
        #expect(!status.canCancel())
        org.server.answer(Answers.recoveryChallenge)
        #expect(try await status.unlock(username: "ana", factorType: .call) is OktaAuthStatusRecoveryChallenge)
        #expect(try org.lastSent == #"POST /recovery/unlock {"factorType":"call","username":"ana"}"#)
    }

    @Test("If the response for a locked account has no unlock link, the app cannot start an unlock")
    func lockedForGood() async throws {
        let org = try Org()
        let status = try await org.status(OktaAuthStatusLockedOut.self, #"{"status":"LOCKED_OUT"}"#)
        #expect(!status.canUnlock())
        await #expect { _ = try await status.unlock(username: "ana", factorType: .sms) } throws: { isWrongStatus($0) }
        #expect(org.server.arrivals.count == 1)
    }

    @Test("The success status of an unlock has no session token and cannot create a session")
    func unlocked() async throws {
        let org = try Org()
        let status = try await org.status(OktaAuthStatusSuccess.self, Answers.unlocked)
        #expect(status.recoveryType == .unlock)
        #expect(status.sessionToken == nil)
        await #expect { _ = try await status.createSession() } throws: { isWrongStatus($0) }
        #expect(status.sessionCookieRedirect(to: try #require(URL(string: "https://app.example.test"))) == nil)
    }

    @Test("Skipping an enrollment and returning to the previous status send requests to the links of the response")
    func backAndSkip() async throws {
        let org = try Org()
        let enroll = try await org.status(
            OktaAuthStatusFactorEnroll.self, Answers.enroll(Answers.enrollable("sms"), links: [Answers.skip, Answers.cancel]))
        #expect(enroll.canSkipEnrollment())
        #expect(!enroll.canReturn())
        org.server.answer(Answers.success)
        _ = try await enroll.skipEnrollment()
        #expect(try org.lastSent == #"POST /skip {"stateToken":"state-1"}"#)
        let challenge = try await org.status(OktaAuthStatusFactorChallenge.self, Answers.challenge("sms"))
        #expect(challenge.canReturn())
        org.server.answer(Answers.required(Answers.selectable("sms")))
        #expect(try await challenge.returnToPreviousStatus() is OktaAuthStatusFactorRequired)
        #expect(try org.lastSent == #"POST /previous {"stateToken":"state-1"}"#)
    }

    @Test("An action whose link is missing in the response fails and sends nothing")
    func noLinks() async throws {
        let org = try Org()
        func bare<Status: OktaAuthStatus>(_ type: Status.Type, _ name: String, _ embedded: String = Answers.user) async throws -> Status {
            try await org.status(type, Answers.transaction(name, embedded: embedded, links: []))
        }
        let warning = try await bare(OktaAuthStatusPasswordWarning.self, "PASSWORD_WARN")
        let expired = try await bare(OktaAuthStatusPasswordExpired.self, "PASSWORD_EXPIRED")
        let reset = try await bare(OktaAuthStatusPasswordReset.self, "PASSWORD_RESET")
        let recovery = try await bare(OktaAuthStatusRecovery.self, "RECOVERY")
        let challenge = try await bare(OktaAuthStatusFactorChallenge.self, "MFA_CHALLENGE", #""factor":{"factorType":"push"}"#)
        let enroll = try await bare(OktaAuthStatusFactorEnroll.self, "MFA_ENROLL", #""factors":[{"factorType":"sms"}]"#)
        let required = try await bare(OktaAuthStatusFactorRequired.self, "MFA_REQUIRED", #""factors":[{"factorType":"sms"}]"#)
        let sent = org.server.arrivals.count
        #expect(!warning.canChange() && !warning.canSkip() && !warning.canCancel() && !warning.canReturn() && !warning.canPoll())
        #expect(!expired.canChange() && !reset.canReset() && !recovery.canRecover())
        #expect(!challenge.canVerify() && !challenge.canResend() && !challenge.canPoll() && !enroll.canSkipEnrollment())
        let factor = try #require(enroll.availableFactors.first)
        #expect(!enroll.canEnrollFactor(factor: factor))
        let calls: [() async throws -> Void] = [
            { _ = try await warning.changePassword(oldPassword: "a", newPassword: "b") }, { _ = try await warning.skipPasswordChange() },
            { _ = try await expired.changePassword(oldPassword: "a", newPassword: "b") },
            { _ = try await reset.resetPassword(newPassword: "b") }, { _ = try await recovery.recoverWithAnswer("a") },
            { _ = try await recovery.recoverWithToken("a") }, { _ = try await challenge.verifyFactor(passCode: "1") },
            { _ = try await challenge.resendFactor() }, { _ = try await enroll.skipEnrollment() },
            { _ = try await enroll.enrollFactor(factor: factor) },
            { _ = try await required.selectFactor(try #require(required.availableFactors.first)) },
            { try await warning.cancelTransaction() }, { _ = try await warning.returnToPreviousStatus() },
        ]
        for call in calls { await #expect { try await call() } throws: { isWrongStatus($0) } }
        #expect(org.server.arrivals.count == sent)
    }

    @Test(
        "A response without a member that its status requires is rejected",
        arguments: [
            #"{"status":"PASSWORD_WARN"}"#, #"{"status":"PASSWORD_EXPIRED"}"#, #"{"status":"PASSWORD_RESET"}"#, #"{"status":"RECOVERY"}"#,
            #"{"status":"MFA_ENROLL","_embedded":{"factors":[]}}"#, #"{"status":"MFA_ENROLL","stateToken":"s"}"#,
            #"{"status":"MFA_REQUIRED","stateToken":"s","_embedded":{}}"#, #"{"status":"MFA_CHALLENGE","stateToken":"s"}"#,
            #"{"status":"MFA_ENROLL_ACTIVATE","stateToken":"s","_embedded":{"factor":{"factorType":"sms"}}}"#, #"{"stateToken":"s"}"#,
        ])
    func incomplete(answer: String) async throws {
        let org = try Org()
        org.server.answer(answer)
        await #expect {
            _ = try await org.start.fetchStatus("s")
        } throws: {
            if case OktaError.invalidResponse = $0 { true } else { false }
        }
    }

    @Test("An unknown transaction state causes an error with the server's response, and the state UNAUTHENTICATED is rejected")
    func unknownStates() async throws {
        let org = try Org()
        org.server.answer(#"{"status":"CONSENT_REQUIRED","stateToken":"s"}"#)
        await #expect {
            _ = try await org.start.fetchStatus("s")
        } throws: { error in
            guard case OktaError.unknownStatus(let response) = error else { return false }
            return response.status == .unknown("CONSENT_REQUIRED")
        }
        org.server.answer(#"{"status":"UNAUTHENTICATED","stateToken":"s"}"#)
        await #expect { _ = try await org.start.fetchStatus("s") } throws: { isWrongStatus($0) }
    }
}
