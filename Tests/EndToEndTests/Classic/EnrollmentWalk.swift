import CountersignSandbox
import Delivery
import Foundation
import OktaAuthSdk
import TestSupport
import Testing

/// Enrolls factors of each kind during a sign-in, and then signs in with each of them.
@MainActor
enum EnrollmentWalk {
    private static let ways: [(type: FactorType, channel: MessageChannel)] = [(.sms, .text), (.call, .call), (.email, .mail)]
    private static let activating = "activate cancel return"

    static func run(_ coverage: SDKCoverage) async throws {
        let factors = "factors: { totp: required, question: required, sms: optional, call: optional, email: optional, push: not_allowed }"
        try await SDKWalk.with("sign_on_policy: two-factors\n" + factors, coverage) { walk in
            try await required(walk)
            try await optional(walk)
            try await useCodes(walk)
            try await useQuestion(walk)
        }
        try await SDKWalk.with(
            "sign_on_policy: one-factor\nfactors: { question: required, totp: not_allowed, push: not_allowed }", coverage
        ) { walk in
            let begun = try await walk.signIn(to: OktaAuthStatusFactorEnroll.self, can: "cancel")
            #expect(!begun.canSkipEnrollment())
            let question = try begun.availableFactors.first(.question, as: OktaFactorQuestion.self)
            #expect(question.enrollment == "REQUIRED" && question.status == "NOT_SETUP" && begun.canEnrollFactor(factor: question))
            try await walk.step("enroll question", to: OktaAuthStatusSuccess.self, can: "", with: .question) {
                try await question.enroll(questionId: "first_award", answer: "Swimming cup")
            }
        }
        try await SDKWalk.with("sign_on_policy: one-factor\nfactors: { totp: required, email: optional }", coverage) { walk in
            let begun = try await walk.signIn(to: OktaAuthStatusFactorEnroll.self, can: "cancel")
            let offered = try await activateApp(walk, begun, leadsTo: OktaAuthStatusFactorEnroll.self, can: "cancel skip")
            try await walk.step("skip", to: OktaAuthStatusSuccess.self, can: "") { try await offered.skipEnrollment() }
        }
        try await SDKWalk.with("sign_on_policy: two-factors\nfactors: { totp: optional, push: not_allowed }", coverage) { walk in
            let begun = try await walk.signIn(to: OktaAuthStatusFactorEnroll.self, can: "cancel")
            _ = try await activateApp(walk, begun, leadsTo: OktaAuthStatusSuccess.self, can: "")
        }
    }

    /// Enrolls an authenticator app with its first code.
    private static func activateApp<Next: OktaAuthStatus>(
        _ walk: SDKWalk, _ begun: OktaAuthStatusFactorEnroll, leadsTo next: Next.Type, can abilities: String
    ) async throws -> Next {
        let factor = try begun.availableFactors.first(.TOTP, as: OktaFactorTotp.self)
        let activate = try await walk.step("enroll totp", to: OktaAuthStatusFactorEnrollActivate.self, can: activating, with: .TOTP) {
            try await factor.enroll()
        }
        let totp = try #require(activate.factor as? OktaFactorTotp)
        let secret = try #require(totp.activation?.sharedSecret)
        let app = try walk.sandbox.authenticatorApp(scanning: "otpauth://totp/Sandbox:\(SDKWalk.jane)?secret=\(secret)&issuer=Sandbox")
        try await walk.refused("E0000068") { try await totp.activate(passCode: app.wrongCode) }
        return try await walk.step("activate", to: next, can: abilities, with: .TOTP) { try await totp.activate(passCode: app.code) }
    }

    /// Enrolls the required factors.
    private static func required(_ walk: SDKWalk) async throws {
        let begun = try await walk.signIn(to: OktaAuthStatusFactorEnroll.self, can: "cancel")
        let factor = try begun.availableFactors.first(.TOTP, as: OktaFactorTotp.self)
        let activate = try await walk.step("enroll totp", to: OktaAuthStatusFactorEnrollActivate.self, can: activating, with: .TOTP) {
            try await factor.enroll()
        }
        let picture = try #require((activate.factor as? OktaFactorTotp)?.qrCodeLink)
        #expect(picture.type == "image/png")
        #expect(try await activate.restApi.data(from: picture.href).starts(with: [0x89, 0x50, 0x4E, 0x47]))
        let back = try await walk.step("previous", to: OktaAuthStatusFactorEnroll.self, can: "cancel") {
            try await activate.returnToPreviousStatus()
        }
        let after = try await activateApp(walk, back, leadsTo: OktaAuthStatusFactorEnroll.self, can: "cancel")
        let question = try after.availableFactors.first(.question, as: OktaFactorQuestion.self)
        let questions = try await question.downloadSecurityQuestions()
        #expect(questions.count == 20 && questions.contains { $0.question == "first_award" })
        try await walk.step("enroll question", to: OktaAuthStatusFactorEnroll.self, can: "cancel skip", with: .question) {
            try await question.enroll(questionId: "first_award", answer: "Swimming cup")
        }
    }

    /// Enrolls the destinations of codes: a number by text, the same number by call, and a mail address.
    private static func optional(_ walk: SDKWalk) async throws {
        for (type, channel) in ways {
            walk.sandbox.advance(by: 31)
            let offered = try #require(walk.status as? OktaAuthStatusFactorEnroll)
            let factor = try offered.availableFactors.first(type, as: OktaFactor.self)
            let can = "activate cancel resend return"
            let activate = try await walk.step("enroll code", to: OktaAuthStatusFactorEnrollActivate.self, can: can, with: type) {
                switch factor {
                case let sms as OktaFactorSms: try await sms.enroll(phoneNumber: "+1 555 123 4821")
                case let call as OktaFactorCall: try await call.enroll(phoneNumber: nil)
                default: try await offered.enrollFactor(factor: factor)
                }
            }
            let first = try await walk.sandbox.code(by: channel)
            walk.sandbox.advance(by: 31)
            try await walk.step("resend", to: OktaAuthStatusFactorEnrollActivate.self, can: can, with: type) {
                try await activate.resendFactor()
            }
            let code = try await walk.sandbox.code(by: channel)
            if first != code { try await walk.refused("E0000068") { try await activate.activateFactor(passCode: first) } }
            if type == .email {
                try await walk.step("activate", to: OktaAuthStatusSuccess.self, can: "", with: type) {
                    try await activate.activateFactor(passCode: code)
                }
            } else {
                try await walk.step("activate", to: OktaAuthStatusFactorEnroll.self, can: "cancel skip", with: type) {
                    try await activate.activateFactor(passCode: code)
                }
            }
        }
    }

    /// Signs in with each factor.
    private static func useCodes(_ walk: SDKWalk) async throws {
        for (type, channel) in ways {
            walk.sandbox.advance(by: 31)
            let required = try await walk.signIn(to: OktaAuthStatusFactorRequired.self, can: "cancel")
            let factor = try required.availableFactors.first(type, as: OktaFactor.self)
            if let phone = factor as? OktaFactorSms { #expect(phone.phoneNumber == "+1 XXX-XXX-4821") }
            let can = "cancel resend return verify"
            let challenge = try await walk.step("verify without proof", to: OktaAuthStatusFactorChallenge.self, can: can, with: type) {
                guard let other = factor as? OktaFactorOther, let link = other.links?.verify else { return try await factor.select() }
                return try await other.sendRequest(with: link, keyValuePayload: ["stateToken": required.stateToken])
            }
            let first = try await walk.sandbox.code(by: channel)
            walk.sandbox.advance(by: 31)
            try await walk.step("resend", to: OktaAuthStatusFactorChallenge.self, can: can, with: type) {
                try await challenge.resendFactor()
            }
            let code = try await walk.sandbox.code(by: channel)
            if first != code { try await walk.refused("E0000068") { try await challenge.verifyFactor(passCode: first) } }
            try await walk.step("verify with proof", to: OktaAuthStatusSuccess.self, can: "", with: type) {
                try await challenge.verifyFactor(passCode: code)
            }
        }
    }

    /// Signs in with the answer, with and without a challenge request before it.
    private static func useQuestion(_ walk: SDKWalk) async throws {
        let required = try await walk.signIn(to: OktaAuthStatusFactorRequired.self, can: "cancel")
        #expect(required.availableFactors.count == 5 && required.availableFactors.allSatisfy { $0.canSelect() && !$0.canEnroll() })
        let question = try required.availableFactors.first(.question, as: OktaFactorQuestion.self)
        #expect(question.factorQuestionId == "first_award" && question.factorQuestionText?.isEmpty == false)
        let asked = try await walk.step(
            "verify without proof", to: OktaAuthStatusFactorChallenge.self, can: "cancel return verify", with: .question
        ) { try await required.selectFactor(question) }
        try await walk.refused("E0000068") { try await asked.verifyFactor(answerToSecurityQuestion: "Chess cup") }
        try await walk.step("verify with proof", to: OktaAuthStatusSuccess.self, can: "", with: .question) {
            try await asked.verifyFactor(answerToSecurityQuestion: "Swimming cup")
        }
        let again = try await walk.signIn(to: OktaAuthStatusFactorRequired.self, can: "cancel")
        let other = try again.availableFactors.first(.question, as: OktaFactorQuestion.self)
        try await walk.step("verify with proof", to: OktaAuthStatusSuccess.self, can: "", with: .question) {
            try await other.select(answerToSecurityQuestion: "Swimming cup")
        }
    }
}
