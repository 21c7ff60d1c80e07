import DeviceAuthenticator
import Foundation
import JOSE

/// A pending approval request for one of the phone's enrollments.
struct PhoneRequest: Sendable {
    let challenge: PushChallenge
    let enrollment: AuthenticatorEnrollment

    var id: String { challenge.transactionId }

    private var account: String { enrollment.user.name ?? enrollment.user.id }

    /// The details that the user needs to decide. Unverified details are not shown.
    var text: TerminalText {
        let app = challenge.appInstanceName ?? "An application"
        let question = challenge.isCIBA ? "\(app) asks for your approval" : "\(app) wants to sign you in"
        var lines = [Terminal.styled("\(question)", .bold)]
        func add(_ name: String, _ value: String?) {
            guard let value else { return }
            lines.append("  \(name.padding(toLength: 9, withPad: " ", startingAt: 0))\(value)")
        }
        add("Message", challenge.cibaBindingMessage)
        add("Account", "\(account) at \(enrollment.organization.url.absoluteString)")
        add("Place", challenge.clientLocation ?? "unknown")
        add("System", challenge.clientOS ?? "unknown")
        add("Time", "\(Self.time(challenge.transactionTime)), until \(Self.time(challenge.expirationTime))")
        add("Numbers", challenge.numberChoices?.joined(separator: "  "))
        add("Request", id)
        if !challenge.isVerified { lines.append("  The organization's signature can't be checked right now, so nothing else is shown.") }
        return lines.joined(separator: "\n")
    }

    private static func time(_ date: Date) -> String { date.formatted(date: .omitted, time: .standard) }

    var json: JSONValue {
        var json: JSONValue = [
            "id": .string(id), "enrollment": .string(enrollment.enrollmentId), "user": .string(account),
            "organization": .string(enrollment.organization.url.absoluteString), "verified": .bool(challenge.isVerified),
            "requested_at": .integer(challenge.transactionTime.numericDate),
            "expires_at": .integer(challenge.expirationTime.numericDate),
        ]
        if challenge.isVerified { json["ciba"] = .bool(challenge.isCIBA) }
        json["application"] = challenge.appInstanceName.map(JSONValue.string)
        json["place"] = challenge.clientLocation.map(JSONValue.string)
        json["system"] = challenge.clientOS.map(JSONValue.string)
        json["message"] = challenge.cibaBindingMessage.map(JSONValue.string)
        json["numbers"] = challenge.numberChoices.map { JSONValue($0) }
        return json
    }
}

enum PhoneAnswer: Sendable, Equatable {
    case approve(number: String?)
    case deny(suspicious: Bool)

    /// The confirmation that is shown after the answer was sent.
    var done: TerminalText {
        switch self {
        case .approve: "Approved."
        case .deny(suspicious: false): "Denied."
        case .deny(suspicious: true): "Denied, and reported as suspicious."
        }
    }

    var name: String {
        switch self {
        case .approve: "approved"
        case .deny: "denied"
        }
    }
}

extension PhoneRequest {
    /// Signs and sends the answer. Asks for a PIN if the request requires user verification.
    func send(_ answer: PhoneAnswer) async throws {
        try await challenge.resolve { step in
            switch (step, answer) {
            case (let step as RemediationStepUserConsent, .approve(let number)): step.provide(.approved, selectedNumber: number)
            case (let step as RemediationStepUserConsent, .deny(let suspicious)): step.provide(.denied, reportSuspicious: suspicious)
            case (let step as RemediationStepMessage, _): Terminal.note("\(PhoneFailure.text(of: step.reasonType))")
            default: step.defaultProcess()
            }
        }
    }
}
