public import DeviceAuthenticator
public import Foundation
public import Wording

/// A pending request. The app shows only data that the organization has signed.
public struct ApprovalRequest: Sendable, Equatable, Identifiable {
    /// The transaction's id, which is the same in a push and in a fetched request.
    public let id: String
    /// The id of the account.
    public let accountID: String
    /// The name of the app that the user signs in to; `nil` if unknown or until the request is verified.
    public let application: String?
    /// The location of the sign-in; `nil` if unknown or until the request is verified.
    public let place: String?
    /// The operating system of the sign-in; `nil` if unknown or until the request is verified.
    public let system: String?
    /// The text of a request without a sign-in (CIBA); `nil` for a sign-in.
    public let message: String?
    /// Whether the request is a request without a sign-in (CIBA).
    public let isCIBA: Bool
    /// The numbers of a number challenge; `nil` without a number challenge. The user approves by selecting the number that the sign-in
    /// shows.
    public let numbers: [String]?
    /// The time of the request.
    public let time: Date
    /// The expiration time of the request.
    public let expiresAt: Date
    /// Whether the signature of the request is verified.
    public let isVerified: Bool

    /// The question that the user answers, as a sentence.
    public var question: String {
        let name = application ?? words("An application")
        return isCIBA ? words("%@ asks for your approval", name) : words("%@ wants to sign you in", name)
    }

    /// A detail that the user needs for the decision.
    public struct Fact: Sendable, Equatable, Identifiable {
        /// The name.
        public let label: String
        /// The value.
        public let value: String

        /// The label, which is unique in a request.
        public var id: String { label }
    }

    /// Returns the details for the user's decision.
    ///
    /// - Parameters:
    ///   - words: The language of the names and of the times.
    ///   - timeZone: The time zone of the times.
    /// - Returns: The details, most important first.
    public func facts(_ words: Wording = PushAuthenticatorApp.words, timeZone: TimeZone = .current) -> [Fact] {
        func clockTime(_ date: Date) -> String { words.date(date, day: .none, time: .medium, timeZone: timeZone) }
        var facts: [Fact] = []
        if let message { facts.append(Fact(label: words("Message"), value: message)) }
        facts.append(Fact(label: words("Place"), value: place ?? words("unknown")))
        facts.append(Fact(label: words("System"), value: system ?? words("unknown")))
        facts.append(Fact(label: words("Time"), value: clockTime(time)))
        facts.append(Fact(label: words("Until"), value: clockTime(expiresAt)))
        if !isVerified {
            facts.append(Fact(label: words("Note"), value: words("The organization's signature cannot be verified right now.")))
        }
        return facts
    }
}

extension ApprovalRequest {
    /// Creates the request of a challenge.
    public init(_ challenge: PushChallenge) {
        self.init(
            id: challenge.transactionId, accountID: challenge.enrollmentId, application: challenge.appInstanceName,
            place: challenge.clientLocation, system: challenge.clientOS, message: challenge.cibaBindingMessage, isCIBA: challenge.isCIBA,
            numbers: challenge.numberChoices, time: challenge.transactionTime, expiresAt: challenge.expirationTime,
            isVerified: challenge.isVerified)
    }
}

/// The user's response.
public enum Answer: Sendable, Equatable {
    /// Approves. `number` is the number that the sign-in shows; `nil` without a number challenge.
    case approve(number: String? = nil)
    /// Denies; `isSuspicious` reports that the user did not start the sign-in.
    case deny(isSuspicious: Bool = false)
}

/// The credentials for a sign-in before a change of the approving devices.
public struct SignInForm: Sendable, Equatable {
    /// The user name.
    public var username = ""
    /// The password.
    public var password = ""
    /// A code of an authenticator app; empty to approve on a phone.
    public var code = ""

    /// Creates an empty form.
    public init() {}

    /// Whether the form is complete.
    public var isComplete: Bool { !username.isEmpty && !password.isEmpty }
}
