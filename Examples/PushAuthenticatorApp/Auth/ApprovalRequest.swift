public import DeviceAuthenticator
public import Foundation
public import Wording

/// A request that waits for the person's answer. What its organization has not signed is not shown.
public struct ApprovalRequest: Sendable, Equatable, Identifiable {
    /// The transaction's id: the same for a push and for what is fetched.
    public let id: String
    /// For which account.
    public let accountID: String
    /// The app that is being signed in to; nil as long as that is not verified.
    public let application: String?
    /// Where the sign-in was begun.
    public let place: String?
    /// On what system.
    public let system: String?
    /// The text of a request that no sign-in has begun.
    public let message: String?
    /// Whether no sign-in has begun it (CIBA).
    public let isCIBA: Bool
    /// The numbers of which the one that the sign-in shows is picked to approve; nil if none has to be.
    public let numbers: [String]?
    /// When it was made.
    public let time: Date
    /// Until when it can be answered.
    public let expiresAt: Date
    /// Whether its signature is checked.
    public let isVerified: Bool

    /// The question as a sentence.
    public var question: String {
        let name = application ?? words("An application")
        return isCIBA ? words("%@ asks for your approval", name) : words("%@ wants to sign you in", name)
    }

    /// Something that a person needs to know.
    public struct Fact: Sendable, Equatable, Identifiable {
        /// The name.
        public let label: String
        /// The value.
        public let value: String

        /// The label: there is one of each.
        public var id: String { label }
    }

    /// The details for the user's decision.
    ///
    /// - Parameters:
    ///   - words: The language of the names and of the times.
    ///   - timeZone: Where the times are read.
    /// - Returns: The facts, the most telling first.
    public func facts(_ words: Wording = PushAuthenticatorApp.words, timeZone: TimeZone = .current) -> [Fact] {
        func clockTime(_ date: Date) -> String { words.date(date, day: .none, time: .medium, timeZone: timeZone) }
        var facts: [Fact] = []
        if let message { facts.append(Fact(label: words("Message"), value: message)) }
        facts.append(Fact(label: words("Place"), value: place ?? words("unknown")))
        facts.append(Fact(label: words("System"), value: system ?? words("unknown")))
        facts.append(Fact(label: words("Time"), value: clockTime(time)))
        facts.append(Fact(label: words("Until"), value: clockTime(expiresAt)))
        if !isVerified {
            facts.append(Fact(label: words("Note"), value: words("The organization's signature can't be checked right now.")))
        }
        return facts
    }
}

extension ApprovalRequest {
    /// Reads a challenge.
    ///
    /// - Parameter challenge: The challenge.
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
    /// Yes; with the number that the sign-in shows, if one has to be picked.
    case approve(number: String? = nil)
    /// Denies; `isSuspicious` reports that the user did not start the sign-in.
    case deny(isSuspicious: Bool = false)
}

/// The credentials for a sign-in before a change of the approving devices.
public struct SignInForm: Sendable, Equatable {
    /// The name.
    public var username = ""
    /// The password.
    public var password = ""
    /// A code of an authenticator app, for who has one; empty to confirm on a phone.
    public var code = ""

    /// An empty form.
    public init() {}

    /// Whether it can be sent.
    public var isComplete: Bool { !username.isEmpty && !password.isEmpty }
}
