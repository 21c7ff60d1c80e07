import CountersignSandbox
import Delivery
import Foundation
import OktaAuthSdk
import TestSupport
import Testing

/// Recovers and unlocks accounts by text, call, mail, security question and back end.
@MainActor
enum RecoveryWalk {
    private static let token = "a-token-of-the-portal-0123456789"
    private static let settings =
        "show_lockout: true\nrecovery: [email, sms, call]\nself_service_unlock: true\n"
        + "trusted_callers: [{ name: portal, token: \(token) }]\n"
    private static let locking = "password_policy:\n  lockout_attempts: 5\n"
    private static let number = "+1 555 123 4821"
    private static let answer = "Swimming cup"

    static func run(_ coverage: SDKCoverage) async throws {
        try await SDKWalk.with("sign_on_policy: one-factor\n" + settings, more: locking, coverage) { walk in
            try await walk.sandbox.addCodeFactor(.text, to: number, for: SDKWalk.jane)
            try await byCode(walk, .sms, .text)
            try await walk.sandbox.addCodeFactor(.call, to: number, for: SDKWalk.jane)
            try await byCode(walk, .call, .call)
            try await byMail(walk, to: OktaAuthStatusPasswordReset.self, can: "cancel reset")
            later(walk)
            try await unlock(walk, hasQuestion: false)
            try await walk.sandbox.addSecurityQuestion("first_award", answer: answer, for: SDKWalk.jane)
            try await byQuestion(walk)
            let asked = try await byMail(walk, to: OktaAuthStatusRecovery.self, can: "cancel recover")
            #expect(asked.recoveryType == .password && asked.recoveryQuestion?.isEmpty == false)
            later(walk)
            try await unlock(walk, hasQuestion: true)
            try await byBackEnd(walk)
        }
        try await SDKWalk.with("sign_on_policy: two-factors\n" + settings, coverage) { walk in
            let app = try await walk.sandbox.authenticatorApp(for: SDKWalk.jane)
            let reset = try await byMail(walk, to: OktaAuthStatusPasswordReset.self, can: "cancel reset")
            let required = try await walk.step("reset password", to: OktaAuthStatusFactorRequired.self, can: "cancel") {
                try await reset.resetPassword(newPassword: "Another-Horse-8")
            }
            let totp = try required.availableFactors.first(.TOTP, as: OktaFactorTotp.self)
            let success = try await walk.step("verify with proof", to: OktaAuthStatusSuccess.self, can: "", with: .TOTP) {
                try await totp.select(passCode: app.code)
            }
            #expect(success.sessionToken != nil)
        }
    }

    /// Waits for an hour, because a number gets at most four messages an hour. The responses do not reveal that further ones are not sent.
    private static func later(_ walk: SDKWalk) { walk.sandbox.advance(by: 3_601) }

    private static func byCode(_ walk: SDKWalk, _ way: OktaRecoveryFactors, _ channel: MessageChannel) async throws {
        let challenge = try await walk.recover(by: way)
        #expect(challenge.recoveryType == .password && challenge.factorType == way.toFactorType())
        let first = try await walk.sandbox.code(by: channel)
        walk.sandbox.advance(by: 31)
        try await walk.step("resend", to: OktaAuthStatusRecoveryChallenge.self, can: "cancel resend verify") {
            try await challenge.resendFactor()
        }
        let code = try await walk.sandbox.code(by: channel)
        if first != code { try await walk.refused("E0000068") { try await challenge.verifyFactor(passCode: first) } }
        let reset = try await walk.step(
            "verify", to: OktaAuthStatusPasswordReset.self, can: "cancel reset", with: way.toFactorType()
        ) { try await challenge.verifyFactor(passCode: code) }
        #expect(reset.passwordComplexity?.minLength ?? 0 > 0)
        try await walk.refused("E0000080") { try await reset.resetPassword(newPassword: "short") }
        let success = try await walk.step("reset password", to: OktaAuthStatusSuccess.self, can: "") {
            try await reset.resetPassword(newPassword: "Horse-of-\(way)-10")
        }
        #expect(success.sessionToken != nil && success.recoveryType == nil)
        later(walk)
    }

    /// Recovers the account with the token in the mail's link, which is valid once.
    @discardableResult
    private static func byMail<Next: OktaAuthStatus>(_ walk: SDKWalk, to next: Next.Type, can abilities: String) async throws -> Next {
        _ = try await walk.recover(by: .email)
        let token = try await walk.sandbox.mailedToken()
        walk.begin()
        let status = try await walk.step("recovery token", to: next, can: abilities, with: .email) {
            try await walk.start.verifyRecoveryToken(token)
        }
        let again = await classicRefusal { _ = try await walk.start.verifyRecoveryToken(token) }
        #expect(again?.errorCode == "E0000011" && again?.statusCode == 401)
        return status
    }

    private static func byQuestion(_ walk: SDKWalk) async throws {
        let challenge = try await walk.recover(by: .sms)
        let code = try await walk.sandbox.code(by: .text)
        let asked = try await walk.step("verify", to: OktaAuthStatusRecovery.self, can: "cancel recover", with: .sms) {
            try await challenge.verifyFactor(passCode: code)
        }
        #expect(asked.recoveryQuestion?.isEmpty == false)
        try await walk.refused("E0000087") { try await asked.recoverWithAnswer("Chess cup") }
        let reset = try await walk.step("answer", to: OktaAuthStatusPasswordReset.self, can: "cancel reset", with: .question) {
            try await asked.recoverWithAnswer(" swimming CUP")
        }
        try await walk.step("reset password", to: OktaAuthStatusSuccess.self, can: "") {
            try await reset.resetPassword(newPassword: "Horse-of-question-11")
        }
        later(walk)
    }

    /// Locks the account by wrong passwords, and unlocks it.
    private static func unlock(_ walk: SDKWalk, hasQuestion: Bool) async throws {
        for _ in 0..<4 {
            walk.begin()
            try await walk.refused("E0000004", http: 401) { try await walk.start.authenticate(username: SDKWalk.jane, password: "wrong") }
        }
        let locked = try await walk.signIn("wrong", to: OktaAuthStatusLockedOut.self, can: "unlock")
        let challenge = try await walk.step("unlock", to: OktaAuthStatusRecoveryChallenge.self, can: "cancel resend verify") {
            try await locked.unlock(username: SDKWalk.jane, factorType: .sms)
        }
        #expect(challenge.recoveryType == .unlock)
        let code = try await walk.sandbox.code(by: .text)
        let success: OktaAuthStatusSuccess
        if hasQuestion {
            let asked = try await walk.step("verify", to: OktaAuthStatusRecovery.self, can: "cancel recover", with: .sms) {
                try await challenge.verifyFactor(passCode: code)
            }
            success = try await walk.step("answer", to: OktaAuthStatusSuccess.self, can: "", with: .question) {
                try await asked.recoverWithAnswer(answer)
            }
        } else {
            success = try await walk.step("verify", to: OktaAuthStatusSuccess.self, can: "", with: .sms) {
                try await challenge.verifyFactor(passCode: code)
            }
        }
        #expect(success.recoveryType == .unlock && success.sessionToken == nil)
        later(walk)
    }

    /// Recovers an account as a back end: its HTTP client adds an API token, so the response contains the recovery token.
    private static func byBackEnd(_ walk: SDKWalk) async throws {
        walk.start.restApi.httpRequestListener = AppHTTP(adding: ["Authorization": "SSWS \(token)"])
        let address = walk.sandbox.origin.appending(path: "api/v1/authn/recovery/password").absoluteString
        let link = try JSONDecoder().decode(
            LinksResponse.Link.self, from: Data(#"{"href":"\#(address)","hints":{"allow":["POST"]}}"#.utf8))
        walk.begin()
        let given = try await walk.step("recover, trusted", to: OktaAuthStatusRecovery.self, can: "cancel recover") {
            let answer = try await walk.start.restApi.response {
                $0.sendApiRequest(with: link, bodyParams: ["username": SDKWalk.jane], method: .post, completion: $1)
            }
            return try walk.start.responseHandler.createAuthStatus(basedOn: answer, and: walk.start)
        }
        let token = try #require(given.recoveryToken)
        walk.begin()
        try await walk.step("recovery token", to: OktaAuthStatusRecovery.self, can: "cancel recover") {
            try await given.recoverWithToken(token)
        }
    }
}
