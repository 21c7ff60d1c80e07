import OktaAuthSdk

/// The texts for states and factors.
enum ClassicText {
    static func headline(of status: OktaAuthStatus) -> String {
        let state = status.statusType.rawValue
        let text: String
        switch status {
        case let warning as OktaAuthStatusPasswordWarning:
            text =
                warning.passwordExpiration?.passwordExpireDays.map { "Your password expires in \($0) days." }
                ?? "Your password expires soon."
        case is OktaAuthStatusPasswordExpired: text = "Your password has expired."
        case is OktaAuthStatusPasswordReset: text = "Choose a new password."
        case is OktaAuthStatusLockedOut: text = "Your account is locked."
        case is OktaAuthStatusRecovery: text = "Answer your question to go on."
        case let challenge as OktaAuthStatusRecoveryChallenge:
            text = challenge.canVerify() ? "A code is on its way to you." : "A link is on its way to you by e-mail. Go on there."
        case is OktaAuthStatusFactorEnroll: text = "Another way to sign in can be set up."
        case let activate as OktaAuthStatusFactorEnrollActivate: text = "Activate: \(name(of: activate.factor))." + result(of: status)
        case is OktaAuthStatusFactorRequired: text = "A second factor is needed."
        case let challenge as OktaAuthStatusFactorChallenge: text = "\(name(of: challenge.factor))." + result(of: status)
        default: text = "This state has no choices here."
        }
        return "\(text) [\(state)]"
    }

    static func name(of factor: OktaFactor) -> String {
        switch factor {
        case let sms as OktaFactorSms: return "text message" + (sms.phoneNumber.map { " to \($0)" } ?? "")
        case let call as OktaFactorCall: return "phone call" + (call.phoneNumber.map { " to \($0)" } ?? "")
        case is OktaFactorPush: return "push" + (factor.profile?.name.map { " to \($0)" } ?? "")
        case is OktaFactorTotp: return factor.provider == .google ? "Google Authenticator" : "authenticator app"
        case let question as OktaFactorQuestion: return "security question" + (question.factorQuestionText.map { ": \($0)" } ?? "")
        case is OktaFactorToken: return "token of \(factor.provider?.rawValue ?? "another maker")"
        default:
            switch factor.type {
            case .email: return "e-mail" + (factor.profile?.email.map { " to \($0)" } ?? "")
            case .tokenHardware: return "hardware token"
            default: return factor.type.rawValue
            }
        }
    }

    private static func result(of status: OktaAuthStatus) -> String {
        switch status.factorResult {
        case .rejected: " It was denied."
        case .timeout: " Nobody answered in time."
        case .waiting: " It waits for an answer."
        case .passcodeReplayed: " That code was used before."
        case .timeWindowExceeded: " That code is of another time."
        case .cancelled, .error: " It failed."
        default: ""
        }
    }
}
