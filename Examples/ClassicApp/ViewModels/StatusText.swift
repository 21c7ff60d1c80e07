internal import Foundation
internal import OktaAuthSdk
internal import Wording

/// The texts for states and factors.
@MainActor
enum StatusText {
    static func headline(of status: OktaAuthStatus) -> String {
        switch status {
        case let warning as OktaAuthStatusPasswordWarning:
            warning.passwordExpiration?.passwordExpireDays.map { words("Your password expires in %@ days.", String($0)) }
                ?? words("Your password expires soon.")
        case is OktaAuthStatusPasswordExpired: words("Your password has expired.")
        case is OktaAuthStatusPasswordReset: words("Choose a new password.")
        case is OktaAuthStatusLockedOut: words("Your account is locked.")
        case let recovery as OktaAuthStatusRecovery:
            recovery.isBegunElsewhere ? words("Your account was found.") : words("Answer your security question to continue.")
        case let challenge as OktaAuthStatusRecoveryChallenge:
            challenge.canVerify()
                ? words("We sent you a code.") : words("We sent you a link by email. Continue there.")
        case is OktaAuthStatusFactorEnroll: words("Set up another way to sign in.")
        case let activate as OktaAuthStatusFactorEnrollActivate: words("Activate: %@", name(of: activate.factor))
        case is OktaAuthStatusFactorRequired: words("A second factor is required.")
        case let challenge as OktaAuthStatusFactorChallenge: words("Confirm by %@", name(of: challenge.factor))
        default: words("This app does not know the state %@.", status.statusType.rawValue)
        }
    }

    static func name(of factor: OktaFactor) -> String {
        switch factor {
        case let sms as OktaFactorSms: named(words("text message"), sms.phoneNumber)
        case let call as OktaFactorCall: named(words("phone call"), call.phoneNumber)
        case is OktaFactorPush: named(words("push"), factor.profile?.name)
        case is OktaFactorTotp: factor.provider == .google ? "Google Authenticator" : words("authenticator app")
        case let question as OktaFactorQuestion: named(words("security question"), question.factorQuestionText)
        case is OktaFactorToken: named(words("token"), factor.provider?.rawValue)
        default:
            switch factor.type {
            case .email: named(words("e-mail"), factor.profile?.email)
            // The type `token:hotp` is that of counter-based codes.
            case .tokenHardware, .unknown("token:hotp"): named(words("hardware token"), factor.profile?.credentialId)
            default: factor.type.rawValue
            }
        }
    }

    private static func named(_ kind: String, _ detail: String?) -> String { detail.map { "\(kind): \($0)" } ?? kind }

    /// Returns the result of the last attempt as text; `nil` without a result.
    static func result(of status: OktaAuthStatus) -> String? {
        switch status.factorResult {
        case .rejected: words("The request was denied.")
        case .timeout: words("The request expired.")
        case .waiting: words("Waiting for your device…")
        case .passcodeReplayed: words("This code was already used.")
        case .timeWindowExceeded: words("This code was valid at another time. Check the clock of your device.")
        case .cancelled, .error: words("The last attempt failed.")
        default: nil
        }
    }

    /// Returns the details of the state for the user, one per line.
    static func details(of status: OktaAuthStatus) -> [String] {
        var lines: [String] = []
        if let name = status.user?.profile?.login { lines.append(words("Account: %@", name)) }
        if let result = result(of: status) { lines.append(result) }
        if let number = status.awaitedPush?.correctAnswer { lines.append(words("Pick the number %@ on your phone.", String(number))) }
        switch status {
        case let status as OktaAuthStatusPasswordWarning: lines += rules(status.passwordComplexity)
        case let status as OktaAuthStatusPasswordExpired: lines += rules(status.passwordComplexity)
        case let status as OktaAuthStatusPasswordReset: lines += rules(status.passwordComplexity)
        case let status as OktaAuthStatusRecovery: lines += status.recoveryQuestion.map { [$0] } ?? []
        default: break
        }
        return lines
    }

    private static func rules(_ rules: EmbeddedResponse.Policy.Password.PasswordComplexity?) -> [String] {
        guard let length = rules?.minLength, length > 0 else { return [] }
        return [words("A new password has at least %@ characters.", String(length))]
    }
}
