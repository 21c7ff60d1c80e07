package import Foundation
package import IdentityCore
internal import JOSE
package import WebAuthn

/// The response to the client after a step.
package struct ClassicAnswer: Sendable {
    package enum Outcome: Sendable {
        /// The state of the sign-in.
        case transaction(ClassicTransaction)
        case cancelled(relayState: String?)
    }

    package var outcome: Outcome
    /// The new device token of the browser; `nil` to keep the current one.
    package var deviceToken: String?
    /// The ids of the push factors that the client starts automatically in this browser; `nil` to keep the stored list.
    package var autoPush: [String]?

    init(_ outcome: Outcome) { self.outcome = outcome }
}

/// The state of a sign-in as the client sees it (Documentation/Protocol/Authn.md §2.1).
package struct ClassicTransaction: Sendable {
    package enum Status: String, Sendable {
        /// The password expires soon; the user may change it later.
        case passwordWarn = "PASSWORD_WARN"
        /// The password has expired and must be changed.
        case passwordExpired = "PASSWORD_EXPIRED"
        /// The user sets a new password.
        case passwordReset = "PASSWORD_RESET"
        /// The user answers the security question.
        case recovery = "RECOVERY"
        /// The user enters the code that was sent.
        case recoveryChallenge = "RECOVERY_CHALLENGE"
        /// The account is locked after too many wrong passwords.
        case lockedOut = "LOCKED_OUT"
        /// The user must or may enroll a factor.
        case factorEnroll = "MFA_ENROLL"
        /// The user confirms the new factor.
        case factorEnrollActivate = "MFA_ENROLL_ACTIVATE"
        /// The user chooses a factor.
        case factorRequired = "MFA_REQUIRED"
        /// The user verifies with the chosen factor.
        case factorChallenge = "MFA_CHALLENGE"
        /// The sign-in or recovery succeeded. A session token is present, except after an unlock.
        case success = "SUCCESS"
    }

    /// The result of the last attempt with a factor.
    package enum FactorResult: String, Sendable {
        /// The user has not yet answered the push, enrolled the phone or opened the mailed link.
        case waiting = "WAITING"
        /// The user denied the push, or picked a wrong number.
        case rejected = "REJECTED"
        /// The push, the challenge of a passkey, or the enrollment of the phone expired without an answer.
        case timeout = "TIMEOUT"
        /// A passkey must sign the challenge.
        case challenge = "CHALLENGE"
    }

    /// The passkeys that can sign a challenge.
    package enum ChallengeType: String, Sendable {
        /// The passkey that the user chose.
        case factor = "FACTOR"
        /// Every passkey of the user.
        case factorType = "FACTOR_TYPE"
    }

    /// The action of the link `next`.
    package enum Next: String, Sendable {
        case poll
        case pollActivation
        case verify
        case activate
        case changePassword
        case resetPassword
        case unlock
        case answer
        case recovery
    }

    package var status: Status
    /// The state token; `nil` if the client has no further step with one.
    package var stateToken: String?
    /// The expiry of the state token, session token or recovery token; `nil` without such a token.
    package var expiresAt: Date?
    /// The single-use token that starts a session; `nil` without ``Status/success``.
    package var sessionToken: String?
    /// The client's value from the first request; `nil` if the request had none.
    package var relayState: String?
    /// The result of the last attempt with a factor; `nil` for none.
    package var factorResult: FactorResult?
    /// The purpose of the recovery: `PASSWORD`, `UNLOCK` or `ACCOUNT_ACTIVATION`; `nil` for a sign-in.
    package var recoveryType: String?
    /// The channel of the recovery's code or link; `nil` if the status has none.
    package var recoveryChannel: CodeChannel?
    /// The single-use token that continues a recovery; `nil` unless a trusted caller started it.
    package var recoveryToken: String?
    /// The user's security question; `nil` if the status does not ask it.
    package var recoveryQuestion: String?
    /// The user; `nil` if the response must not reveal whether the account exists.
    package var user: ClassicPerson?
    /// The factors to choose from, or to enroll; `nil` in other statuses.
    package var factors: [ClassicFactor]?
    /// The chosen factor, or the factor that is being enrolled; `nil` in other statuses.
    package var factor: ClassicFactor?
    /// The passkeys that can sign the challenge; `nil` without a challenge of passkeys.
    package var challengeType: ChallengeType?
    /// The challenge for every passkey in ``factors``; `nil` for none.
    package var challenge: ClassicPasskeyChallenge?
    /// The rules for a new password; `nil` if none is requested.
    package var passwordPolicy: PasswordPolicy?
    /// The days until the password expires; `nil` unless it expires soon.
    package var passwordExpireDays: Int?
    /// The remember-device options; `nil` if they do not apply.
    package var remembering: ClassicRemembering?
    /// The action of the link `next`; `nil` without the link.
    package var next: Next?
    /// Whether the client can return to the previous step, cancel the sign-in, or skip the step.
    package var canReturn = false, canCancel = false, canSkip = false
    /// Whether the code or push can be sent again.
    package var canResend = false

    init(_ status: Status) { self.status = status }
}

/// The user as the client sees them.
package struct ClassicPerson: Sendable {
    package var id: String
    /// The time of the last password change; `nil` if there was none.
    package var passwordChanged: Date?
    /// The attributes `login`, `firstName`, `lastName`, `locale` and `timeZone`.
    package var profile: [String: String]

    init(_ user: User) {
        id = user.id
        passwordChanged = user.passwordChangedAt
        func text(_ name: String) -> String? { user.profile[name]?.stringValue.flatMap { $0.isEmpty ? nil : $0 } }
        // Official clients require both names, so a missing one is derived from the name or login.
        let words = (text("name") ?? user.login).split(separator: " ", maxSplits: 1).map(String.init)
        profile = [
            "login": user.login, "firstName": text("given_name") ?? words.first ?? user.login,
            "lastName": text("family_name") ?? (words.count > 1 ? words[1] : words.first ?? user.login),
            "locale": text("locale") ?? "en", "timeZone": text("zoneinfo") ?? "UTC",
        ]
    }
}

/// A factor as the client sees it (Documentation/Protocol/Authn.md §5.1).
package struct ClassicFactor: Sendable {
    /// The id in paths; `nil` in a list of factors to enroll.
    package var id: String?
    /// The type, for example `push`.
    package var type: String
    /// The provider, for example `OKTA`.
    package var provider: String
    /// The details that identify the factor.
    package var profile: [String: String]
    /// The number that the user must choose on the device; `nil` if none is requested now.
    package var correctAnswer: Int?
    /// The challenge that the passkey must sign; `nil` for none.
    package var challenge: ClassicPasskeyChallenge?
    /// The policy for the enrollment of the factor; `nil` outside a list of factors to enroll.
    package var enrolling: ClassicPolicy.Enrolling?
    /// Whether the user has enrolled the factor.
    package var isSetUp = true
    /// The number of the user's passkeys and its maximum; `nil` outside a list of factors to enroll, and for factors of which a user has one.
    package var count: (enrolled: Int, maximum: Int)?
    /// The data by which an app, a phone or a passkey is enrolled; `nil` for other factors and after the enrollment.
    package var activation: ClassicActivation?
}

/// The data by which a factor is enrolled (Documentation/Protocol/Authn.md §5.4, §5.5 and §5.10).
package struct ClassicActivation: Sendable {
    /// The options for the client's authenticator; `nil` unless a passkey is enrolled.
    package var passkey: CreationOptions?
    /// The secret of an authenticator app in Base32; `nil` for other factors.
    package var secret: String?
    /// The last path component of the QR code's URL, which is secret; `nil` if there is no QR code.
    package var pictureToken: String?
    /// The expiry of a phone's enrollment; `nil` for an app.
    package var expiresAt: Date?
    /// The progress of a phone's enrollment; `nil` for an app.
    package var result: ClassicTransaction.FactorResult?
}

extension ClassicActivation: Redacted {}

/// The challenge that a passkey must sign (Documentation/Protocol/Authn.md §5.11).
package struct ClassicPasskeyChallenge: Sendable {
    /// The challenge in base64url.
    package var challenge: String
    /// The relying party's id.
    package var rpID: String
    package var userVerification: UserVerification
}

/// The options for a device that replaces the second factor (Documentation/Protocol/Authn.md §2.3).
package struct ClassicRemembering: Sendable {
    package var isAllowed: Bool
    /// Whether this device was remembered before.
    package var isDefault: Bool
    /// The lifetime in minutes; 0 if it is unlimited, or if devices are not remembered.
    package var minutes: Int
    /// The user's push factor ids, and whether the client starts each push automatically; `nil` if the user has no push factor.
    package var autoPush: [String: Bool]?
}
