import AuthFoundation
import Foundation
import OktaAuthSdk

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The choices for each kind of factor.
@MainActor
enum ClassicFactors {
    static func enrollment(_ factor: OktaFactor) -> ClassicChoice {
        let need = factor.enrollment == "REQUIRED" ? " (required)" : ""
        return ClassicChoice(title: "Enroll: \(ClassicText.name(of: factor))\(need)") {
            switch factor {
            case let sms as OktaFactorSms: return try await sms.enroll(phoneNumber: try await number())
            case let call as OktaFactorCall: return try await call.enroll(phoneNumber: try await number())
            case let question as OktaFactorQuestion: return try await enroll(question)
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
        await EnrollmentCode.show(
            for: status.factor, user: status.user?.profile?.login, organization: organization, drawing: drawing)
        var choices: [ClassicChoice] = []
        if let push = status.factor as? OktaFactorPush {
            let isWaiting = status.activateLink.name == "poll"
            choices.append(
                ClassicChoice(title: isWaiting ? "Wait for your device" : "Restart the activation") {
                    isWaiting ? try await wait(for: push, "Waiting for your device") : try await push.activate()
                })
            if push.canSendPushCodeViaSms() {
                choices.append(
                    ClassicChoice(title: "Send a link by text message") {
                        try await push.sendActivationLinkViaSms(with: try await ClassicQuestion.ask("Number: "))
                        return status
                    })
            }
            if push.canSendPushCodeViaEmail() {
                choices.append(
                    ClassicChoice(title: "Send a link by email") {
                        try await push.sendActivationLinkViaEmail()
                        return status
                    })
            }
        } else {
            choices.append(
                ClassicChoice(title: "Enter the code") {
                    try await status.activateFactor(passCode: try await ClassicQuestion.ask("Code: "))
                })
        }
        if status.canResend() { choices.append(ClassicChoice(key: "r", title: "Resend") { try await status.resendFactor() }) }
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
                    ClassicChoice(title: "Answer the security question") {
                        let prompt = question.factorQuestionText ?? "Your answer"
                        return try await question.verify(
                            answerToSecurityQuestion: try await ClassicQuestion.ask("\(prompt): ", isSecret: true))
                    })
            } else {
                choices.append(
                    ClassicChoice(title: "Enter the code") {
                        try await status.verifyFactor(passCode: try await ClassicQuestion.ask("Code: "))
                    })
            }
        }
        if status.canResend() { choices.append(ClassicChoice(key: "r", title: "Resend") { try await status.resendFactor() }) }
        return choices
    }

    private static func wait(for push: OktaFactorPush, _ text: String) async throws -> OktaAuthStatus {
        Terminal.note("\(text). Press Ctrl-C to cancel.")
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
        // For an empty line, the server uses the number that it already knows.
        let line = try await TerminalInput.line("Number, as in +15550100 (empty for the one that is known): ")
        let number = line?.trimmingCharacters(in: .whitespaces) ?? ""
        return number.isEmpty ? nil : number
    }

    private static func enroll(_ factor: OktaFactorQuestion) async throws -> OktaAuthStatus {
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

/// Shows the QR code and the secret for an authenticator app.
@MainActor
enum EnrollmentCode {
    private static let session = EphemeralSession(isBrowserless: true, keepsCookies: false)

    /// Shows the code for a factor. Sends requests only to the organization at which the user signs in.
    static func show(for factor: OktaFactor, user: String?, organization: URL, drawing: QRCodeDrawing) async {
        switch factor {
        case let totp as OktaFactorTotp:
            guard let activation = totp.activation, let secret = activation.sharedSecret else { return }
            let uri = uri(for: activation, issuer: totp.qrCodeLink?.href.host() ?? "Countersign", account: user ?? "account")
            let symbol = uri.flatMap { drawing.symbol(of: $0) }
            if let symbol { Terminal.note(.own(symbol)) }
            let way = symbol == nil ? "Type this secret" : "Scan it, or type this secret"
            Terminal.note("\(way) in your authenticator app: \(secret)")
        case let push as OktaFactorPush:
            guard let link = push.qrCodeLink else { return }
            let isAsked = drawing.colors != nil && isPicture(link.href, of: organization)
            let symbol = isAsked ? await text(of: link.href).flatMap { drawing.symbol(of: $0) } : nil
            if let symbol { Terminal.note(.own(symbol)) }
            let opening = symbol == nil ? "The code to scan with your device is at" : "Scan it with your device; it is also at"
            Terminal.note("\(opening) \(link.href.absoluteString)")
        default: break
        }
    }

    /// Returns whether a picture's address has the organization's origin. A response can name any address, even one that only this machine
    /// can reach.
    nonisolated static func isPicture(_ address: URL, of organization: URL) -> Bool {
        guard LoopbackRule.isAcceptable(address), address.user() == nil, address.password() == nil,
            let scheme = address.scheme?.lowercased(), scheme == organization.scheme?.lowercased(),
            let host = address.host()?.lowercased(), host == organization.host()?.lowercased()
        else { return false }
        let usual = scheme == "https" ? 443 : 80
        return (address.port ?? usual) == (organization.port ?? usual)
    }

    /// Returns the text in a QR code picture, which this project's server returns for `Accept: text/plain`; `nil` if the server returns the
    /// picture instead, or after an error. Redirects are not followed, because they may lead to another host.
    static func text(of picture: URL) async -> String? {
        var request = URLRequest(url: picture)
        request.setValue("text/plain", forHTTPHeaderField: "Accept")
        request.timeoutInterval = 10
        guard let (data, response) = try? await session.data(for: request),
            (response as? HTTPURLResponse)?.statusCode == 200, response.mimeType == "text/plain"
        else { return nil }
        return String(data: data, encoding: .utf8)
    }

    /// Returns the `otpauth` address for authenticator apps; `nil` for secrets in another encoding.
    static func uri(
        for activation: EmbeddedResponse.Factor.Embedded.Activation, issuer: String, account: String
    ) -> String? {
        guard let secret = activation.sharedSecret, (activation.encoding ?? "base32").lowercased() == "base32" else { return nil }
        func escaped(_ text: String) -> String { text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "" }
        return "otpauth://totp/\(escaped(issuer)):\(escaped(account))?secret=\(escaped(secret))&issuer=\(escaped(issuer))"
            + "&digits=\(activation.keyLength ?? 6)&period=\(activation.timeStep ?? 30)"
    }
}
