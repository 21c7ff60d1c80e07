internal import Foundation
package import IdentityCore
internal import JOSE
package import OAuthWire

/// What the pages of a sign-in answer, and which cookies the browser gets with it.
package struct HostedAnswer: Sendable {
    /// What the browser is shown, or where it is sent.
    package enum Outcome: Sendable {
        /// A page.
        case page(HostedPage)
        /// On to the page of the sign-in that a token names.
        case goOn(token: String)
        /// To a page of a recovery.
        case recovery(RecoveryPlace)
        /// To the authorize endpoint again, by a link that names the request.
        case again(clientID: String, requestURI: String)
        /// Back to the client.
        case respond(AuthorizationResponse)
        /// A page that says why it cannot go on; nothing is sent to any client.
        case refused(HostedRefusal)
    }

    /// What the browser is shown, or where it is sent.
    package var outcome: Outcome
    /// The browser's new secrets; nil where it keeps what it has.
    package var cookies = BrowserSecrets()
    /// To be sent now; each at most once.
    package var pushes: [PushMessage] = []
    /// What applications are to be told now, whose session another person's took the place of; each at most once.
    package var logouts: [BackchannelLogout] = []
    /// To be sent now; each at most once.
    package var messages: [OutgoingMessage] = []

    package init(_ outcome: Outcome) { self.outcome = outcome }
}

/// What a recovery is for.
package enum RecoveryKind: Sendable, Equatable {
    /// A password was forgotten.
    case password
    /// An account is locked.
    case unlock
    /// Somebody signs in for the first time: the account was made for them.
    case activation
}

/// A page of a recovery.
package enum RecoveryPlace: Sendable, Equatable {
    /// What asks for the name, from a sign-in.
    case form(signIn: String, isUnlock: Bool)
    /// What says that a mail was sent.
    case sent(signIn: String, isUnlock: Bool)
    /// Where it stands.
    case page(token: String)
}

/// Why a sign-in on the pages cannot go on. Its refusal's description is for the person.
package struct HostedRefusal: Sendable {
    /// What a page tells apart.
    package enum Reason: Sendable {
        /// The application's request is not good, and it is not known where to say so.
        case badRequest
        /// The sign-in is unknown, too old, or its account changed.
        case over
        /// It was finished before.
        case finished
        /// It began in another browser, or a form was not the server's own.
        case otherBrowser
        /// The link of a mail is not good, or not good any more.
        case link
        /// Too many requests.
        case tooManyRequests
    }

    /// What a page tells apart.
    package var reason: Reason
    /// What was wrong with a request, for the person who asks its maker; nil for the other reasons.
    package var detail: Refusal?

    /// A request that cannot be read.
    package init(badRequest detail: Refusal) { self.init(.badRequest, detail: detail) }

    /// A request over a limit.
    package init(tooMany limit: RateLimitStatus) { self.init(.tooManyRequests, detail: .tooManyRequests(limit, reason: "rate limit")) }

    init(_ reason: Reason, detail: Refusal? = nil) {
        self.reason = reason
        self.detail = detail
    }
}

/// A page of a sign-in: what it asks. How it looks, and in which language, is the front door's.
package struct HostedPage: Sendable {
    /// What it asks.
    package enum Content: Sendable {
        /// Name and password; the name only where it is not fixed.
        case password(login: String, isLoginFixed: Bool, canRecover: Bool, canUnlock: Bool)
        /// The name of whoever forgot a password, or unlocks an account, and the way that a code or a link is to take.
        case recover(isUnlock: Bool, channels: [CodeChannel], login: String)
        /// Nothing: a mail was sent, if there is anybody who can have one.
        case recoveryMailed(isUnlock: Bool)
        /// Asks the user to confirm a mailed link, and names its account: a page of another site may have opened a link of another account.
        case recoveryLink(RecoveryKind, login: String)
        /// The code that a recovery sent.
        case recoveryCode(CodeChannel)
        /// The answer to the person's own question; the text is English.
        case recoveryQuestion(key: String, text: String)
        /// Another password, or the first one: what it must be, and what the last one was refused for.
        case recoveryPassword(RecoveryKind, login: String, rules: [PasswordRule], violated: [PasswordRule])
        /// Nothing any more: the recovery did what it was for. The token leads back to the sign-in that it was begun from.
        case recovered(RecoveryKind, signIn: String?)
        /// One of these factors.
        case factors([HostedFactorChoice])
        /// The code that was sent to a telephone or mailbox, which is shown masked; of a mail, its link does as well.
        case sentCode(CodeChannel, destination: String, hasOthers: Bool)
        /// Whether it is this person who signs in where a mail was sent for.
        case mailLink(MailLinkQuestion)
        /// Nothing any more: that was answered.
        case mailLinkAnswered(isApproved: Bool)
        /// The setting up of a second factor: one of these, or what an authenticator app is to scan, once the person has asked for it.
        case enrollment(TOTPEnrollmentOffer?, choices: [HostedEnrollment])
        /// The number of a telephone that is set up.
        case enrollNumber(CodeChannel)
        /// The code that was sent to a telephone or mailbox that is set up, which is shown masked.
        case confirmNumber(CodeChannel, destination: String)
        /// The setting up of a phone that confirms sign-ins: what it is to scan.
        case phone(PhoneEnrollmentOffer, canAddApp: Bool)
        /// No input: the user answers on a device.
        case push(HostedPushWait)
        /// A new password in place of one that is due: what it must be, and what the last one was refused for.
        case newPassword(login: String, rules: [PasswordRule], violated: [PasswordRule])
        /// Whether the client may have these scopes.
        case consent([HostedScope])
        /// Whether a device that shows this code may be signed in as this person.
        case device(userCode: String, login: String)
        /// Nothing any more: what was decided of a device.
        case deviceDecided(isAllowed: Bool)
    }

    /// What the page tells about the step before.
    package enum Notice: String, Sendable {
        /// The name or the password was wrong.
        case wrongCredentials
        /// The code was wrong, or used before.
        case wrongCode
        /// The code came too late to set an authenticator app up: it must be begun again.
        case lateCode
        /// Too many attempts; wait.
        case tooManyAttempts
        /// Try again in a moment.
        case busy
        /// Nobody answered on a device.
        case unanswered
        /// The user denied the push, or picked a wrong number.
        case notApproved
        /// No device can be asked.
        case noDevice
        /// Too many challenges were not answered; wait.
        case tooManyChallenges
        /// A push was sent less than 30 seconds ago; the user must wait.
        case pushSentJustNow
        /// A new password was not typed alike twice.
        case passwordsDiffer
        /// A code that was sent is wrong.
        case wrongSentCode
        /// The answer to a security question is wrong.
        case wrongAnswer
        /// Another message was sent a moment ago; wait.
        case sentJustNow
        /// A number cannot be read.
        case wrongNumber
        /// A number is of a country to which nothing is sent.
        case foreignNumber
    }

    /// What it asks.
    package var content: Content
    /// What it tells about the step before.
    package var notice: Notice?
    /// The application that the person signs in to.
    package var applicationName: String
    /// What each of its forms must carry.
    package var formToken: String
    /// Where its forms lead to in the end: the client's redirect URI.
    package var returnURI: String
    /// The languages that the client asked for, in order of preference.
    package var locales: [String]

    init(
        content: Content, notice: Notice? = nil, applicationName: String, formToken: String, returnURI: String, locales: [String] = []
    ) {
        self.content = content
        self.notice = content.followsSuccess ? nil : notice
        self.applicationName = applicationName
        self.formToken = formToken
        self.returnURI = returnURI
        self.locales = locales
    }
}

extension HostedPage.Content {
    /// Whether the previous step succeeded. Such a page shows no earlier problem.
    fileprivate var followsSuccess: Bool {
        switch self {
        case .recovered, .recoveryMailed, .mailLinkAnswered, .consent, .device, .deviceDecided: true
        case .password, .recover, .recoveryLink, .recoveryCode, .recoveryQuestion, .recoveryPassword, .factors, .sentCode, .mailLink,
            .enrollment, .enrollNumber, .confirmNumber, .phone, .push, .newPassword:
            false
        }
    }
}

/// A scope that a person is asked to allow.
package struct HostedScope: Sendable {
    /// Its name in the protocol.
    package var name: String
    /// What the server's owner says of it; nil for the reserved ones.
    package var description: String?
}

/// A factor that can be chosen on a page.
package enum HostedFactor: String, Sendable, CaseIterable {
    /// A push to the person's devices.
    case push
    /// The code of an authenticator app.
    case code
    /// A code by text message.
    case sms
    /// A code by a call.
    case voice
    /// A code by mail, or the link that comes with it.
    case email
}

/// A factor of the person's that can be chosen on a page.
package struct HostedFactorChoice: Sendable, Equatable {
    /// Which one.
    package var factor: HostedFactor
    /// Where its code goes, masked; nil for what sends none.
    package var destination: String?
}

/// What a person does on a page.
package enum HostedAction: Sendable {
    /// Gives a name and a password.
    case password(login: String, password: String)
    /// Gives the code of an authenticator app.
    case code(String)
    /// Gives the code that was sent.
    case sentCode(String)
    /// Goes back to the choice of a factor.
    case chooseAgain
    /// Gives a new password, twice.
    case newPassword(String, repeated: String)
    /// Chooses a factor.
    case choose(HostedFactor)
    /// Allows the client what it asks for, or does not.
    case consent(Bool)
    /// Says whether a device may be signed in.
    case device(isAllowed: Bool)
    /// Begins to set up an authenticator app.
    case enroll
    /// Begins to set up a phone that confirms sign-ins, by an app that its authenticator names; nil for the first.
    case enrollPhone(authenticatorID: String?)
    /// Begins to set up a telephone or a mailbox that codes are sent to.
    case enrollCode(CodeChannel)
    /// Gives its number; empty to send once more.
    case number(String)
    /// Goes back to the choice of what to set up.
    case chooseEnrollment
    /// Shows by a code that the app is set up.
    case confirmEnrollment(String)
    /// Gives up: the client is told.
    case cancel
    /// Begins again, as somebody else maybe.
    case restart
}

extension HostedAction: Redacted {
    /// What kind of step it is; never what was typed.
    package var description: String {
        switch self {
        case .password: "password"
        case .code: "code"
        case .sentCode: "sent code"
        case .chooseAgain: "choose again"
        case .newPassword: "new password"
        case .choose(let factor): "choose \(factor.rawValue)"
        case .consent: "consent"
        case .device(let isAllowed): isAllowed ? "allow device" : "deny device"
        case .enroll: "enroll"
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
