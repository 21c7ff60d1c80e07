package import Foundation
package import IdentityCore
internal import JOSE

/// What a step of a classic sign-in came to, committed: what the client is told, and what is to be sent.
package struct ClassicAnswer: Sendable {
    /// What the client is told.
    package enum Outcome: Sendable {
        /// Where the transaction stands.
        case transaction(ClassicTransaction)
        /// It was given up.
        case cancelled(relayState: String?)
    }

    /// What the client is told.
    package var outcome: Outcome
    /// To be sent now; each at most once.
    package var pushes: [PushMessage] = []
    /// Likewise.
    package var messages: [OutgoingMessage] = []
    /// The device token that the browser is to keep from now on; nil to leave it what it has.
    package var deviceToken: String?
    /// The push factors that the client asks by itself on this device from now on, for the browser to keep; nil to leave it what it has.
    package var autoPush: [String]?

    init(_ outcome: Outcome) { self.outcome = outcome }

    init(_ transaction: ClassicTransaction, pushes: [PushMessage] = []) {
        outcome = .transaction(transaction)
        self.pushes = pushes
    }
}

/// A transaction as the client sees it (authn reference 2.1). Which links it has follows from this.
package struct ClassicTransaction: Sendable {
    /// Where it stands.
    package enum Status: String, Sendable {
        /// The password ends soon; changing it can wait.
        case passwordWarn = "PASSWORD_WARN"
        /// The password has ended and must be changed.
        case passwordExpired = "PASSWORD_EXPIRED"
        /// The person sets a new password.
        case passwordReset = "PASSWORD_RESET"
        /// The security question is to be answered.
        case recovery = "RECOVERY"
        /// A code that was sent is to be given back.
        case recoveryChallenge = "RECOVERY_CHALLENGE"
        /// Too many wrong passwords.
        case lockedOut = "LOCKED_OUT"
        /// A factor must, or may, be set up.
        case factorEnroll = "MFA_ENROLL"
        /// The factor that is being set up is to be proved.
        case factorEnrollActivate = "MFA_ENROLL_ACTIVATE"
        /// A factor is to be picked.
        case factorRequired = "MFA_REQUIRED"
        /// The factor that was picked is to be answered.
        case factorChallenge = "MFA_CHALLENGE"
        /// Done; the session token is there, unless it was an unlock.
        case success = "SUCCESS"
    }

    /// What came of the last attempt with a factor.
    package enum FactorResult: String, Sendable {
        /// The person has not answered on their phone.
        case waiting = "WAITING"
        /// The person denied it, there or elsewhere.
        case rejected = "REJECTED"
        /// Nobody answered in time.
        case timeout = "TIMEOUT"
    }

    /// What the link `next` does; nil for none.
    package enum Next: String, Sendable {
        /// Asks whether the push was answered.
        case poll
        /// Asks whether the phone was set up.
        case pollActivation
        /// Proves the factor.
        case verify
        /// Proves the factor that is being set up.
        case activate
        /// Changes the password.
        case changePassword
        /// Sets a new password.
        case resetPassword
        /// Opens the account.
        case unlock
        /// Answers the security question.
        case answer
        /// Takes the recovery token.
        case recovery
    }

    /// Where it stands.
    package var status: Status
    /// Leads to it; nil once it is over.
    package var stateToken: String?
    /// When the state token, or the session token, ends.
    package var expiresAt: Date?
    /// Begins a session, once; with ``Status/success`` only.
    package var sessionToken: String?
    /// What the client gave at the beginning.
    package var relayState: String?
    /// What came of the last attempt.
    package var factorResult: FactorResult?
    /// `PASSWORD` or `UNLOCK`; nil for a sign-in.
    package var recoveryType: String?
    /// The way that the code or the link of a recovery took.
    package var recoveryChannel: CodeChannel?
    /// Goes on with a recovery, once; for trusted callers.
    package var recoveryToken: String?
    /// What the person is asked in a recovery.
    package var recoveryQuestion: String?
    /// Whom it is about; nil before they proved something.
    package var user: ClassicPerson?
    /// What can be chosen.
    package var factors: [ClassicFactor]?
    /// What was chosen.
    package var factor: ClassicFactor?
    /// What a new password must be; nil where none is asked for.
    package var passwordPolicy: PasswordPolicy?
    /// For how many days the password is good yet; nil where that is no question.
    package var passwordExpireDays: Int?
    /// Whether the device can be remembered; nil where that is no question.
    package var remembering: ClassicRemembering?
    /// What the link `next` does.
    package var next: Next?
    /// Whether the client can go back, give up, go on without.
    package var canReturn = false, canCancel = false, canSkip = false
    /// Whether what was sent can be sent again.
    package var canResend = false

    init(_ status: Status) { self.status = status }
}

/// A person as the client sees them.
package struct ClassicPerson: Sendable {
    /// The user's id.
    package var id: String
    /// When their password was last set.
    package var passwordChanged: Date?
    /// `login`, `firstName`, `lastName`, `locale`, `timeZone`.
    package var profile: [String: String]

    init(_ user: User) {
        id = user.id
        passwordChanged = user.passwordChangedAt
        func text(_ name: String) -> String? { user.profile[name]?.stringValue.flatMap { $0.isEmpty ? nil : $0 } }
        // Official clients want both names: who has none is called by what there is.
        let words = (text("name") ?? user.login).split(separator: " ", maxSplits: 1).map(String.init)
        profile = [
            "login": user.login, "firstName": text("given_name") ?? words.first ?? user.login,
            "lastName": text("family_name") ?? (words.count > 1 ? words[1] : words.first ?? user.login),
            "locale": text("locale") ?? "en", "timeZone": text("zoneinfo") ?? "UTC",
        ]
    }
}

/// A factor as the client sees it (authn reference 5.1).
package struct ClassicFactor: Sendable {
    /// Names it in paths; nil for one that is not set up.
    package var id: String?
    /// Such as `push`.
    package var type: String
    /// Such as `OKTA`.
    package var provider: String
    /// What it is known by.
    package var profile: [String: String]
    /// The number that the person picks on their device; nil if none is asked for now.
    package var correctAnswer: Int?
    /// What the policy says of it, where it can be set up; nil for one that is asked for.
    package var enrolling: ClassicPolicy.Enrolling?
    /// Whether it is set up.
    package var isSetUp = true
    /// What shows that it works; nil for one that is set up.
    package var activation: ClassicActivation?
}

/// What an authenticator app, or a phone, is given when it is set up (authn reference 5.4 and 5.5).
package struct ClassicActivation: Sendable {
    /// The secret of an authenticator app in Base32; nil of a phone.
    package var secret: String?
    /// What leads to its picture: the last part of the path; nil once there is none to see.
    package var pictureToken: String?
    /// Until when a phone can be set up by it; nil of an app.
    package var expiresAt: Date?
    /// How far a phone has come; nil of an app.
    package var result: ClassicTransaction.FactorResult?
}

extension ClassicActivation: Redacted {}

/// Whether a device can stand in for the second factor from now on (authn reference 2.3).
package struct ClassicRemembering: Sendable {
    /// Whether it may.
    package var isAllowed: Bool
    /// Whether this device was remembered before.
    package var isDefault: Bool
    /// For how long, in minutes; 0 for as long as the device brings its token, or not at all.
    package var minutes: Int
    /// Whether the client is to ask a push factor by itself, by the factor's id; nil where that is no question.
    package var autoPush: [String: Bool]?
}
