internal import OktaAuthSdk
internal import Wording

/// The actions of each kind of factor.
@MainActor
enum FactorActions {
    static func enrollment(_ factor: OktaFactor) -> ClassicAction {
        let name = StatusText.name(of: factor)
        let title = factor.enrollment == "REQUIRED" ? words("Set up: %@ (required)", name) : words("Set up: %@", name)
        switch factor {
        case let sms as OktaFactorSms:
            return ClassicAction(title, .phoneNumber) { try await sms.enroll(phoneNumber: $0.phoneNumber) }
        case let call as OktaFactorCall:
            return ClassicAction(title, .phoneNumber) { try await call.enroll(phoneNumber: $0.phoneNumber) }
        case let push as OktaFactorPush: return ClassicAction(title) { _ in try await push.enroll() }
        case let totp as OktaFactorTotp: return ClassicAction(title) { _ in try await totp.enroll() }
        case let question as OktaFactorQuestion: return enrollment(question, title)
        case let token as OktaFactorToken: return enrollment(token, title)
        default: return enrollment(other: factor, title)
        }
    }

    private static func enrollment(_ question: OktaFactorQuestion, _ title: String) -> ClassicAction {
        ClassicAction(
            title,
            fields: {
                let questions = try await question.downloadSecurityQuestions().compactMap { question in
                    question.question.map { ClassicField.Choice(id: $0, title: question.questionText ?? $0) }
                }
                return [ClassicField(id: "question", label: words("Question"), choices: questions), .answer(nil)]
            },
            run: { try await question.enroll(questionId: $0.text("question"), answer: $0.text("answer")) })
    }

    private static func enrollment(_ token: OktaFactorToken, _ title: String) -> ClassicAction {
        let serial = ClassicField(id: "credential", label: words("Serial number or account"))
        guard token.provider == .symantec else {
            return ClassicAction(title, serial, .code) {
                try await token.enroll(credentialId: $0.text("credential"), passCode: $0.text("code"))
            }
        }
        return ClassicAction(title, serial, .code, ClassicField(id: "next", label: words("Next code"))) {
            try await token.enroll(credentialId: $0.text("credential"), passCode: $0.text("code"), nextPassCode: $0.text("next"))
        }
    }

    private static func enrollment(other factor: OktaFactor, _ title: String) -> ClassicAction {
        let fields: [ClassicField] = factor.type == .tokenHardware ? [.code] : []
        return ClassicAction(title, fields: { fields }) { values in
            let code = fields.isEmpty ? nil : values.text("code")
            return try await factor.enroll(questionId: nil, answer: nil, credentialId: nil, passCode: code, phoneNumber: nil)
        }
    }

    static func activation(_ status: OktaAuthStatusFactorEnrollActivate) -> [ClassicAction] {
        var actions: [ClassicAction] = []
        if let push = status.factor as? OktaFactorPush {
            // While the challenge is pending, the view model polls for the answer.
            if !status.isWaiting { actions.append(ClassicAction(words("Restart the activation")) { _ in try await push.activate() }) }
            if push.canSendPushCodeViaSms() {
                actions.append(
                    ClassicAction(
                        words("Send a link by text message"), ClassicField(id: "number", label: words("Phone number, e.g. +15550100"))
                    ) {
                        try await push.sendActivationLinkViaSms(with: $0.text("number"))
                        return status
                    }.saying(words("We sent you a link. Open it on your device.")))
            }
            if push.canSendPushCodeViaEmail() {
                actions.append(
                    ClassicAction(words("Send a link by email")) { _ in
                        try await push.sendActivationLinkViaEmail()
                        return status
                    }.saying(words("We sent you a link. Open it on your device.")))
            }
        } else {
            actions.append(ClassicAction(words("Enter the code"), .code) { try await status.activateFactor(passCode: $0.text("code")) })
        }
        if status.canResend() { actions.append(.resend { try await status.resendFactor() }) }
        return actions
    }

    static func challenge(_ status: OktaAuthStatusFactorChallenge) -> [ClassicAction] {
        var actions: [ClassicAction] = []
        if status.canVerify() {
            switch status.factor {
            case let push as OktaFactorPush:
                if !status.isWaiting { actions.append(ClassicAction(words("Send another push")) { _ in try await push.verify() }) }
            case let question as OktaFactorQuestion:
                actions.append(
                    ClassicAction(words("Answer your question"), .answer(question.factorQuestionText)) {
                        try await question.verify(answerToSecurityQuestion: $0.text("answer"))
                    })
            default:
                actions.append(ClassicAction(words("Enter the code"), .code) { try await status.verifyFactor(passCode: $0.text("code")) })
            }
        }
        if status.canResend() { actions.append(.resend { try await status.resendFactor() }) }
        return actions
    }
}

extension ClassicAction {
    /// Returns an action that sends a code or a push again. Its message confirms this, because the state does not change.
    @MainActor
    static func resend(_ run: @escaping @MainActor () async throws -> OktaAuthStatus) -> ClassicAction {
        ClassicAction(words("Resend")) { _ in try await run() }.saying(words("Sent again."))
    }
}

extension OktaAuthStatus {
    /// The factor of a pending push or of a pending activation; `nil` for other statuses.
    @MainActor var awaitedPush: OktaFactorPush? {
        switch self {
        case let status as OktaAuthStatusFactorChallenge where status.factorResult == .waiting: status.factor as? OktaFactorPush
        case let status as OktaAuthStatusFactorEnrollActivate where status.activateLink.name == "poll": status.factor as? OktaFactorPush
        default: nil
        }
    }

    @MainActor fileprivate var isWaiting: Bool { awaitedPush != nil }
}
