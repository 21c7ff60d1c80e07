import AuthFoundation
import Foundation
import JOSE
import OktaAuthSdk

/// Guides the user from state to state, until the sign-in succeeds or no choice is left. If the user cancels, if the input ends, or after
/// Ctrl-C, the transaction is cancelled at the server.
@MainActor
final class ClassicSession {
    enum Beginning: Sendable {
        case signIn
        case recovery(OktaRecoveryFactors)
        case unlocking(OktaRecoveryFactors)
    }

    /// The time limit for cancelling a transaction at the server.
    private static let patience: Duration = .seconds(3)

    let organization: URL
    let username: String
    let drawing: QRCodeDrawing
    /// Whether the user already cancelled the transaction.
    var isCancelled = false
    private let json: Bool
    private let start: OktaAuthStatusUnauthenticated

    init(organization: URL, username: String, drawing: QRCodeDrawing, json: Bool) {
        self.organization = organization
        self.username = username
        self.drawing = drawing
        self.json = json
        start = OktaAuthStatusUnauthenticated(oktaDomain: organization)
    }

    /// Runs the transaction, and returns the session token; `nil` if the transaction ends without one. Throws `OktaError`,
    /// ``CommandFailure`` if the user cancels, and `CancellationError` after Ctrl-C.
    func run(_ beginning: Beginning, remember: Bool, deviceToken: String?) async throws -> String? {
        start.restApi.deviceToken = deviceToken
        start.rememberDevice = remember ? true : nil
        var status = try await first(beginning)
        do {
            while true {
                if let success = status as? OktaAuthStatusSuccess { return success.sessionToken }
                guard let next = try await step(from: status) else { return nil }
                status = next
            }
        } catch {
            await giveUp(status)
            throw error
        }
    }

    /// Reports the end of a transaction that stored no credential.
    func tellEnd(hasSessionToken: Bool) {
        if json { return Terminal.write(json: ["status": "done", "session_token": hasSessionToken ? "unused" : "none"]) }
        Terminal.write(hasSessionToken ? "Signed in. Without --client-id there are no tokens." : "Done.")
    }

    private func first(_ beginning: Beginning) async throws -> OktaAuthStatus {
        switch beginning {
        case .signIn:
            let password = try await PasswordPrompt.ask("Password for \(username): ")
            return try await start.authenticate(username: username, password: password)
        case .recovery(let factors): return try await start.recoverPassword(username: username, factorType: factors)
        case .unlocking(let factors): return try await start.unlockAccount(username: username, factorType: factors)
        }
    }

    /// Lets the user choose, and performs the choice. Returns the next state; `nil` if the transaction has ended.
    private func step(from status: OktaAuthStatus) async throws -> OktaAuthStatus? {
        let choices = await ClassicChoices.choices(in: status, of: self)
        show(status, choices)
        guard !choices.isEmpty else { return nil }
        do {
            let choice = try await choose(from: choices)
            return try await choice.action()
        } catch let error as OktaError where Self.leavesState(error) {
            Terminal.note("\(error.description)")
            return status
        } catch let error as ClassicQuestion.Mistyped {
            Terminal.note("\(error.text)")
            return status
        }
    }

    /// Returns whether the transaction stays in its state after an error, such as a wrong code, a weak password, or a message that was sent
    /// too recently.
    private static func leavesState(_ error: OktaError) -> Bool {
        guard case .serverRespondedWithError(let refusal) = error, let code = refusal.errorCode else { return false }
        return [
            "E0000001", "E0000014", "E0000047", "E0000068", "E0000074", "E0000080", "E0000082", "E0000083", "E0000087", "E0000098",
            "E0000099", "E0000109", "E0000118", "E0000133", "E0000138", "E0000139",
        ].contains(code)
    }

    private func show(_ status: OktaAuthStatus, _ choices: [ClassicChoice]) {
        if json {
            var line: JSONValue = [
                "status": .string(status.statusType.rawValue), "choices": .array(choices.map { .string($0.title) }),
            ]
            line["factor_result"] = status.factorResult.map { .string($0.rawValue) }
            return Terminal.write(json: line)
        }
        Terminal.note("\n\(Terminal.styledNote("\(ClassicText.headline(of: status))", .bold))")
        for (index, choice) in choices.enumerated() {
            Terminal.note("  \(choice.key ?? String(index + 1))) \(choice.title)")
        }
    }

    private func choose(from choices: [ClassicChoice]) async throws -> ClassicChoice {
        while true {
            guard let line = try await TerminalInput.line("Choice [\(choices[0].key ?? "1")]: ") else {
                throw CommandFailure("The sign-in was cancelled: the input ended before a choice was made.")
            }
            let word = line.trimmingCharacters(in: .whitespaces).lowercased()
            if word.isEmpty { return choices[0] }
            if let choice = choices.first(where: { $0.key == word }) { return choice }
            if let number = Int(word), choices.indices.contains(number - 1), choices[number - 1].key == nil { return choices[number - 1] }
            Terminal.note("“\(word)” is not one of the choices.")
        }
    }

    private func giveUp(_ status: OktaAuthStatus) async {
        guard status.canCancel(), !isCancelled else { return }
        await TerminalClock.wait(atMost: Self.patience) { @MainActor in
            // An error is ignored, because the transaction expires soon.
            try? await status.cancelTransaction()
        }
    }
}

/// An action that the user can choose in a state.
@MainActor
struct ClassicChoice {
    /// The letter that selects the choice; `nil` if the user selects it by its number.
    var key: String?
    let title: String
    let action: () async throws -> OktaAuthStatus?
}

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
        case is OktaAuthStatusRecovery: text = "Answer your security question to continue."
        case let challenge as OktaAuthStatusRecoveryChallenge:
            text = challenge.canVerify() ? "We sent you a code." : "We sent you a link by email. Continue there."
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
        case .timeout: " The request was not answered in time."
        case .waiting: " It waits for an answer."
        case .passcodeReplayed: " That code was used before."
        case .timeWindowExceeded: " That code is of another time."
        case .cancelled, .error: " It failed."
        default: ""
        }
    }
}
