internal import Foundation
package import IdentityCore
internal import JOSE
package import OAuthWire

/// The response of a page of a sign-in or recovery, with the browser's new cookies.
package struct HostedAnswer: Sendable {
    package enum Outcome: Sendable {
        case page(HostedPage)
        /// A redirect to the next page of the sign-in with this state token.
        case redirect(token: String)
        /// A redirect to a page of a recovery.
        case recovery(RecoveryPlace)
        /// A redirect to the authorize endpoint that restarts the sign-in with the same request, which was stored at `requestURI`.
        case restart(clientID: String, requestURI: String)
        /// The authorization response, which the browser takes to the client.
        case respond(AuthorizationResponse)
        /// The error page of a sign-in that cannot continue; the client gets no response.
        case refused(HostedRefusal)
    }

    package var outcome: Outcome
    /// The browser's new secrets. A secret that is `nil` does not change.
    package var cookies = BrowserSecrets()

    package init(_ outcome: Outcome) { self.outcome = outcome }
}

/// The purpose of a recovery.
package enum RecoveryKind: Sendable, Equatable {
    case password
    case unlock
    /// The first sign-in of a user whom an administrator created.
    case activation
}

/// A page of a recovery.
package enum RecoveryPlace: Sendable, Equatable {
    /// The form for the user name, opened from a sign-in.
    case form(signIn: String, isUnlock: Bool)
    /// The page that announces a mail.
    case sent(signIn: String, isUnlock: Bool)
    /// The form for the user name without a sign-in.
    case newPassword
    /// The page that announces a mail without a sign-in.
    case newPasswordMailed
    /// The current page of the recovery.
    case page(token: String)
}

/// The reason why a sign-in on the pages cannot continue. The refusal's description is for the user.
package struct HostedRefusal: Sendable {
    /// The reasons that pages distinguish.
    package enum Reason: Sendable {
        /// The application's request is invalid, and there is no valid redirect URI for an error.
        case badRequest
        /// The sign-in is unknown or expired, or its account changed.
        case over
        /// The sign-in was completed before.
        case finished
        /// The sign-in started in another browser, or the form is not the server's own.
        case otherBrowser
        /// The mailed link is invalid, expired or consumed.
        case link
        case tooManyRequests
    }

    package var reason: Reason
    /// The fault of the request, for the application's developer; `nil` for other reasons.
    package var detail: Refusal?

    package init(badRequest detail: Refusal) { self.init(.badRequest, detail: detail) }

    package init(tooMany limit: RateLimitStatus) { self.init(.tooManyRequests, detail: .tooManyRequests(limit, reason: "rate limit")) }

    init(_ reason: Reason, detail: Refusal? = nil) {
        self.reason = reason
        self.detail = detail
    }
}

/// The content of a page of a sign-in or recovery, without its look and language.
package struct HostedPage: Sendable {
    /// The input that the page asks for, with its data.
    package enum Content: Sendable {
        /// User name and password; only the password if the name is fixed. `passkey` are the WebAuthn options in JSON of a passkey that
        /// replaces both; `nil` for none.
        case password(login: String, isLoginFixed: Bool, canRecover: Bool, canUnlock: Bool, passkey: String? = nil)
        /// The user name for a recovery or unlock, and the channel of the code or link.
        case recover(isUnlock: Bool, channels: [CodeChannel], login: String)
        /// No input: a mail was sent if the account exists and has an address.
        case recoveryMailed(isUnlock: Bool)
        /// Asks the user to confirm a mailed link, and names its account: a page of another site may have opened a link of another account.
        case recoveryLink(RecoveryKind, login: String)
        /// The code that a recovery sent.
        case recoveryCode(CodeChannel)
        /// The answer to the user's security question. The text of the question is English.
        case recoveryQuestion(key: String, text: String)
        /// A new or first password. `violated` are the rules that the last entered password violated.
        case recoveryPassword(RecoveryKind, login: String, rules: [PasswordRule], violated: [PasswordRule])
        /// No input: the recovery is complete. `signIn` is the state token of the sign-in from which the recovery started; `nil` for none.
        case recovered(RecoveryKind, signIn: String?)
        /// The second factor.
        case factors([HostedFactorChoice])
        /// The signature of the user's passkey, with the WebAuthn options in JSON.
        case passkey(options: String, hasOthers: Bool)
        /// The code that was sent to the phone number or mail address; `destination` is masked. The link in a mail is accepted too.
        case sentCode(CodeChannel, destination: String, hasOthers: Bool)
        /// Asks whether the user who received the mail is signing in.
        case mailLink(MailLinkQuestion)
        /// No input: the mailed link was answered.
        case mailLinkAnswered(isApproved: Bool)
        /// The enrollment of a second factor. With an offer, the page shows the QR code of an authenticator app; without, only the choices.
        case enrollment(TOTPEnrollmentOffer?, choices: [HostedEnrollment])
        /// The creation of a passkey, with the WebAuthn options in JSON. The user can decline an offer.
        case createPasskey(options: String, hasOthers: Bool, isOffer: Bool)
        /// The offer to set up a passkey or recovery codes.
        case offer(SetupOffer)
        /// A new list of recovery codes, which the user must save.
        case savedCodes([String])
        /// One of the recovery codes that the user saved.
        case savedCode(hasOthers: Bool)
        /// The number of a phone to enroll.
        case enrollNumber(CodeChannel)
        /// The code that was sent to the phone number or mail address to enroll; `destination` is masked.
        case confirmNumber(CodeChannel, destination: String)
        /// The enrollment of a phone for push, with its QR code.
        case phone(PhoneEnrollmentOffer, canAddApp: Bool)
        /// No input: the user answers a push on a device.
        case push(HostedPushWait)
        /// A new password in place of an expired one. `violated` are the rules that the last entered password violated.
        case newPassword(login: String, rules: [PasswordRule], violated: [PasswordRule])
        case consent([HostedScope])
        /// The user's decision about a device that shows this code.
        case device(userCode: String, login: String)
        /// No input: the user decided about a device.
        case deviceDecided(isAllowed: Bool)
    }

    /// A notice about the previous step. A sign-in stores the raw value.
    package enum Notice: String, Sendable, Codable {
        /// The password is wrong, the account is locked, or the user name is unknown.
        case wrongCredentials
        /// The code of an authenticator app is wrong or was used before.
        case wrongCode
        /// The code came too late to enroll an authenticator app; the user must start again.
        case lateCode
        /// Too many attempts; the user must wait.
        case tooManyAttempts
        /// The server is busy; the user must try again.
        case busy
        /// The request on the device expired.
        case unanswered
        /// The user denied the push, or picked a wrong number.
        case notApproved
        /// No device can receive a push, or a code could not be sent.
        case noDevice
        /// Too many pushes were not answered; the user must wait.
        case tooManyChallenges
        /// A push was sent less than ``HostedSignIn/resendDelay`` seconds ago; the user must wait.
        case pushSentJustNow
        /// The two entries of the new password differ.
        case passwordsDiffer
        /// The entered code of a message is wrong or expired.
        case wrongSentCode
        /// The answer to the security question is wrong.
        case wrongAnswer
        /// Another message was sent recently; the user must wait.
        case sentJustNow
        /// The phone number is invalid.
        case wrongNumber
        /// No messages are sent to the number's country.
        case foreignNumber
        /// The passkey's signature is invalid, or its account cannot sign in.
        case wrongPasskey
        /// The new passkey is invalid, or the server does not accept it.
        case passkeyNotCreated
        /// The recovery code is wrong or was used before.
        case wrongSavedCode
    }

    package var content: Content
    /// The notice about the previous step; `nil` for none.
    package var notice: Notice?
    /// The name of the sign-in's application.
    package var applicationName: String
    /// The token that each form of the page must contain.
    package var formToken: String
    /// The address to which a submitted form may redirect: the client's registered redirect URI, or the organization's origin on the pages
    /// of a recovery and of a mailed link.
    package var returnURI: String
    /// The client's requested languages, in order of preference.
    package var locales: [String]

    init(
        content: Content, notice: Notice? = nil, applicationName: String, formToken: String, returnURI: String, locales: [String] = []
    ) {
        self.content = content
        self.notice = content.followsSuccess ? nil : notice
        (self.applicationName, self.formToken, self.returnURI, self.locales) = (applicationName, formToken, returnURI, locales)
    }
}

extension HostedPage.Content {
    /// Whether the previous step succeeded. Such a page shows no earlier problem.
    fileprivate var followsSuccess: Bool {
        switch self {
        case .recovered, .recoveryMailed, .mailLinkAnswered, .consent, .device, .deviceDecided: true
        case .password, .recover, .recoveryLink, .recoveryCode, .recoveryQuestion, .recoveryPassword, .factors, .passkey, .sentCode,
            .mailLink, .enrollment, .createPasskey, .offer, .savedCodes, .savedCode, .enrollNumber, .confirmNumber, .phone, .push,
            .newPassword:
            false
        }
    }
}

/// A scope on the consent page.
package struct HostedScope: Sendable {
    package var name: String
    /// The administrator's description; `nil` for reserved scopes.
    package var description: String?
}

/// A second factor that has a button or a field on the pages. The cases are in the order in which a page offers them.
package enum HostedFactor: String, Sendable, CaseIterable {
    case passkey
    case push
    /// A code of an authenticator app.
    case totp = "code"
    case sms
    case voice
    /// A code by mail, or the link in that mail.
    case email
    /// One of the recovery codes that the user saved.
    case savedCode = "recovery-code"

    var kind: FactorKind {
        switch self {
        case .passkey: .passkey
        case .push: .push
        case .totp: .totp
        case .sms: .sms
        case .voice: .voice
        case .email: .email
        case .savedCode: .savedCode
        }
    }
}

/// A factor of the user that a page offers.
package struct HostedFactorChoice: Sendable, Equatable {
    package var factor: HostedFactor
    /// The masked phone number or mail address; `nil` for factors that send no code.
    package var destination: String?
}

/// The user's action on a page.
package enum HostedAction: Sendable {
    case password(login: String, password: String)
    /// Submits the response of a passkey: an `AuthenticationResponseJSON`.
    case passkey(String)
    /// Submits a code of an authenticator app.
    case appCode(String)
    /// Submits a code that was sent.
    case sentCode(String)
    /// Submits a recovery code that the user saved.
    case savedCode(String)
    /// Returns to the choice of a factor.
    case chooseAgain
    case newPassword(String, repeated: String)
    case choose(HostedFactor)
    case consent(Bool)
    /// Allows or denies the sign-in of a device.
    case device(isAllowed: Bool)
    case enroll
    /// Starts the creation of a passkey.
    case enrollPasskey
    /// Submits a new passkey: a `RegistrationResponseJSON`.
    case newPasskey(String)
    /// Starts the enrollment of a phone for push with an authenticator's app; `nil` for the first authenticator.
    case enrollPhone(authenticatorID: String?)
    /// Starts the enrollment of a phone or mail address for codes.
    case enrollCode(CodeChannel)
    /// Submits the phone number to enroll. An empty number sends the code again.
    case number(String)
    /// Returns to the choice of a factor to enroll.
    case chooseEnrollment
    /// Confirms the enrollment of an authenticator app, a phone or a mail address by its first code.
    case confirmEnrollment(String)
    /// Creates recovery codes and shows them.
    case showCodes
    /// The user has saved the recovery codes.
    case codesSaved
    /// Declines an offer.
    case decline(SetupOffer)
    /// Cancels the sign-in; the client gets an error.
    case cancel
    /// Starts the sign-in again without proofs, so that another user can sign in.
    case restart
}

extension HostedAction: Redacted {
    package var description: String {
        switch self {
        case .password: "password"
        case .passkey: "passkey"
        case .appCode: "code"
        case .sentCode: "sent code"
        case .savedCode: "recovery code"
        case .showCodes: "show recovery codes"
        case .codesSaved: "recovery codes saved"
        case .decline(let offer): "decline \(offer.rawValue)"
        case .chooseAgain: "choose again"
        case .newPassword: "new password"
        case .choose(let factor): "choose \(factor.rawValue)"
        case .consent: "consent"
        case .device(let isAllowed): isAllowed ? "allow device" : "deny device"
        case .enroll: "enroll"
        case .enrollPasskey: "enroll passkey"
        case .newPasskey: "new passkey"
        case .enrollPhone: "enroll phone"
        case .enrollCode(let channel): "enroll \(channel.rawValue)"
        case .number: "number"
        case .chooseEnrollment: "choose enrollment"
        case .confirmEnrollment: "confirm enrollment"
        case .cancel: "cancel"
        case .restart: "restart"
        }
    }
}
