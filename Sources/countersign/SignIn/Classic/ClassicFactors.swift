import AuthFoundation
import Foundation
import OktaAuthSdk

/// The choices for each kind of factor.
@MainActor
enum ClassicFactors {
    static func enrolment(_ factor: OktaFactor) -> ClassicChoice {
        let need = factor.enrollment == "REQUIRED" ? " (required)" : ""
        return ClassicChoice(title: "Enrol: \(ClassicText.name(of: factor))\(need)") {
            switch factor {
            case let sms as OktaFactorSms: return try await sms.enroll(phoneNumber: try await number())
            case let call as OktaFactorCall: return try await call.enroll(phoneNumber: try await number())
            case let question as OktaFactorQuestion: return try await enrol(question)
            case let token as OktaFactorToken:
                let id = try await ClassicQuestion.ask("Serial number or account: ")
                let code = try await ClassicQuestion.ask("Code: ")
                guard token.provider == .symantec else { return try await token.enroll(credentialId: id, passCode: code) }
                return try await token.enroll(
                    credentialId: id, passCode: code, nextPassCode: try await ClassicQuestion.ask("The code after it: "))
            case _ where factor.type == .tokenHardware:
                let code = try await ClassicQuestion.ask("Code: ")
                return try await factor.enroll(questionId: nil, answer: nil, credentialId: nil, passCode: code, phoneNumber: nil)
            default:
                return try await factor.enroll(questionId: nil, answer: nil, credentialId: nil, passCode: nil, phoneNumber: nil)
            }
        }
    }

    static func activation(
        _ status: OktaAuthStatusFactorEnrollActivate, organization: URL, drawing: QRCodeDrawing
    ) async -> [ClassicChoice] {
        await EnrolmentCode.show(
            for: status.factor, user: status.user?.profile?.login, organization: organization, drawing: drawing)
        var choices: [ClassicChoice] = []
        if let push = status.factor as? OktaFactorPush {
            let isWaiting = status.activateLink.name == "poll"
            choices.append(
                ClassicChoice(title: isWaiting ? "Wait for your device" : "Begin the activation anew") {
                    isWaiting ? try await wait(for: push, "Waiting for your device") : try await push.activate()
                })
            if push.canSendPushCodeViaSms() {
                choices.append(
                    ClassicChoice(title: "Have a link sent by text message") {
                        try await push.sendActivationLinkViaSms(with: try await ClassicQuestion.ask("Number: "))
                        return status
                    })
            }
            if push.canSendPushCodeViaEmail() {
                choices.append(
                    ClassicChoice(title: "Have a link sent by e-mail") {
                        try await push.sendActivationLinkViaEmail()
                        return status
                    })
            }
        } else {
            choices.append(
                ClassicChoice(title: "Give the code") {
                    try await status.activateFactor(passCode: try await ClassicQuestion.ask("Code: "))
                })
        }
        if status.canResend() { choices.append(ClassicChoice(key: "r", title: "Have it sent again") { try await status.resendFactor() }) }
        return choices
    }

    static func challenge(_ status: OktaAuthStatusFactorChallenge) -> [ClassicChoice] {
        var choices: [ClassicChoice] = []
        if status.canVerify() {
            if let push = status.factor as? OktaFactorPush {
                let isWaiting = status.factorResult == .waiting
                choices.append(
                    ClassicChoice(title: isWaiting ? "Wait for your phone" : "Send another push") {
                        isWaiting ? try await wait(for: push, "Waiting for your approval on your phone") : try await push.verify()
                    })
            } else if let question = status.factor as? OktaFactorQuestion {
                choices.append(
                    ClassicChoice(title: "Answer your question") {
                        let prompt = question.factorQuestionText ?? "Your answer"
                        return try await question.verify(
                            answerToSecurityQuestion: try await ClassicQuestion.ask("\(prompt): ", isSecret: true))
                    })
            } else {
                choices.append(
                    ClassicChoice(title: "Give the code") {
                        try await status.verifyFactor(passCode: try await ClassicQuestion.ask("Code: "))
                    })
            }
        }
        if status.canResend() { choices.append(ClassicChoice(key: "r", title: "Have it sent again") { try await status.resendFactor() }) }
        return choices
    }

    private static func wait(for push: OktaFactorPush, _ text: String) async throws -> OktaAuthStatus {
        Terminal.note("\(text). Ctrl-C gives up.")
        var shown = push.correctAnswer
        if let shown { tell(number: shown) }
        return try await push.pollFactorResult(every: 3) { status in
            let number = ((status as? OktaAuthStatusFactorChallenge)?.factor as? OktaFactorPush)?.correctAnswer
            if let number, number != shown { tell(number: number) }
            shown = number
        }
    }

    private static func tell(number: Int) {
        Terminal.note("Pick the number \(Terminal.styledNote("\(number)", .bold)) on your phone.")
    }

    private static func number() async throws -> String? {
        // With an empty line, the server uses the known number.
        let line = try await TerminalInput.line("Number, as in +15550100 (empty for the one that is known): ")
        let number = line?.trimmingCharacters(in: .whitespaces) ?? ""
        return number.isEmpty ? nil : number
    }

    private static func enrol(_ factor: OktaFactorQuestion) async throws -> OktaAuthStatus {
        let questions = try await factor.downloadSecurityQuestions()
        for (index, question) in questions.enumerated() {
            Terminal.note("  \(index + 1)) \(question.questionText ?? question.question ?? "")")
        }
        guard let number = Int(try await ClassicQuestion.ask("Which question: ")), questions.indices.contains(number - 1),
            let key = questions[number - 1].question
        else { throw ClassicQuestion.Mistyped(text: "That is none of the questions.") }
        return try await factor.enroll(questionId: key, answer: try await ClassicQuestion.ask("Your answer: ", isSecret: true))
    }
}
