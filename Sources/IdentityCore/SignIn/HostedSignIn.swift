package import Foundation

/// What a sign-in on the hosted pages is for and knows beside its proofs; a part of its ``SignInTransaction``.
package struct HostedSignIn: Sendable, Equatable, Codable {
    /// Seconds that a person has for all of it.
    package static let lifetime = TimeInterval(BrowserSecrets.signInLifetime)
    /// Minimum seconds between two pushes of a page.
    package static let resendDelay: TimeInterval = 30
    /// Seconds that a client has to exchange its code (oauth reference 2.3).
    package static let codeLifetime: TimeInterval = 300

    /// What the page tells about the step before.
    package enum Notice: String, Sendable, Codable {
        /// Also what a locked account and a name that is nobody's get.
        case wrongCredentials
        /// Of an authenticator app.
        case wrongCode
        /// Of an authenticator app whose secret was shown too long ago.
        case lateCode
        /// Of one name, or from one address.
        case tooManyAttempts
        /// Too many people sign in at the moment.
        case busy
        /// Nobody answered on a device.
        case unanswered
        /// The user denied the push, or picked a wrong number.
        case notApproved
        /// No device can be asked.
        case noDevice
        /// Too many challenges were not answered.
        case tooManyChallenges
        /// A push was sent less than ``resendDelay`` seconds ago.
        case pushSentJustNow
        /// A new password was not typed alike twice.
        case passwordsDiffer
        /// A code that was sent is wrong.
        case wrongSentCode
        /// Another message was sent a moment ago.
        case sentJustNow
        /// A number cannot be read.
        case wrongNumber
        /// A number is of a country to which nothing is sent.
        case foreignNumber
    }

    /// What the client will be told instead of a code.
    package struct Refused: Sendable, Equatable, Codable {
        package var error: String
        package var description: String

        package init(error: String, description: String) {
            self.error = error
            self.description = description
        }
    }

    /// What the client asked.
    package var request: AuthorizationRequest
    /// The browser that it continues in.
    package var browser: BrowserBinding
    /// The session whose proofs it began with: they count as long as that is open.
    package var session: String?
    /// How many of its proofs that session brought.
    package var inherited = 0
    /// The number of the challenge whose approval is among its proofs; 0 for none.
    package var countedChallenge = 0
    /// The name that stands in the page's field.
    package var login: String
    package var notice: Notice? { didSet { noticeUntil = nil } }
    /// When it is over what the notice tells to wait for; nil for what stays until the next step.
    package var noticeUntil: Date?
    /// What the last new password was refused for; nil for none.
    package var violatedRules: [PasswordRule]?
    /// The enrolment of an authenticator app that waits for its first code.
    package var enrolling: String?
    /// The number of the challenge that the user abandoned for another factor; `nil` for none.
    package var leftChallenge: Int?
    /// The way that the code took which is waited for; nil as long as none was asked for.
    package var sending: CodeChannel?
    /// The phone that is being set up, in place of an app.
    package var phone: PhoneTicket?
    /// The way of the codes to a telephone or mailbox that is being set up; nil if none is.
    package var number: CodeChannel?
    /// What was proved, once that is enough.
    package var authentication: AuthenticationContext?
    /// Whether the person allowed what the client asks for.
    package var isAllowed: Bool?
    /// Why it ended without.
    package var refused: Refused?
    /// The digest of the last code that it gave.
    package var code: [UInt8]?
    /// The device that it is for, which gets no code: it polls.
    package var device: HostedDevice?
    /// When it gave the first one; nil also in records of before it was kept.
    package var firstCodeAt: Date?

    package init(
        request: AuthorizationRequest, browser: BrowserBinding, session: String? = nil, inherited: Int = 0, countedChallenge: Int = 0,
        login: String, noticeUntil: Date? = nil, violatedRules: [PasswordRule]? = nil, enrolling: String? = nil,
        leftChallenge: Int? = nil, sending: CodeChannel? = nil, phone: PhoneTicket? = nil, number: CodeChannel? = nil,
        authentication: AuthenticationContext? = nil, isAllowed: Bool? = nil, refused: Refused? = nil, code: [UInt8]? = nil,
        device: HostedDevice? = nil, firstCodeAt: Date? = nil
    ) {
        self.request = request
        self.browser = browser
        self.session = session
        self.inherited = inherited
        self.countedChallenge = countedChallenge
        self.login = login
        self.noticeUntil = noticeUntil
        self.violatedRules = violatedRules
        self.enrolling = enrolling
        self.leftChallenge = leftChallenge
        self.sending = sending
        self.phone = phone
        self.number = number
        self.authentication = authentication
        self.isAllowed = isAllowed
        self.refused = refused
        self.code = code
        self.device = device
        self.firstCodeAt = firstCodeAt
    }

    /// What the page tells at a moment: nobody is told to wait for what is over.
    package func notice(at now: Date) -> Notice? { noticeUntil.map { now < $0 } ?? true ? notice : nil }
}
