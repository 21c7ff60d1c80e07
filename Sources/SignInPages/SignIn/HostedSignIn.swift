internal import Foundation
internal import IdentityCore

/// The state of a sign-in on the hosted pages besides its proofs; a part of its ``SignInTransaction``.
struct HostedSignIn: Sendable, Equatable, Codable {
    /// The maximum duration of the whole sign-in, in seconds.
    static let lifetime = TimeInterval(BrowserSecrets.signInLifetime)
    /// The minimum number of seconds between two pushes of a page.
    static let resendDelay: TimeInterval = 30
    /// The lifetime of an authorization code in seconds (Documentation/Protocol/OAuth.md §2.3).
    static let codeLifetime: TimeInterval = 300
    private static let kind = "pages"

    typealias Notice = HostedPage.Notice

    /// The error that the client receives instead of a code.
    struct Refused: Sendable, Equatable, Codable {
        var error: String
        var description: String
    }

    /// The input that the page waits for after the user started a step.
    enum Awaited: Sendable, Equatable, Codable {
        /// The code that was sent as the second factor.
        case sentCode(CodeChannel)
        /// The signature of a passkey as the second factor.
        case passkey
        /// A recovery code as the second factor.
        case savedCode
        /// The confirmation that the user has saved new recovery codes.
        case newSavedCodes(enrollmentID: String)
        /// The registration of a new passkey, which must sign this challenge.
        case newPasskey(PasskeyChallenge)
        /// The number of a phone to enroll.
        case number(CodeChannel)
        /// The first code of a factor to enroll; the channel is `nil` for an authenticator app.
        case setupCode(enrollmentID: String, CodeChannel?)
    }

    /// The browser that continues the sign-in.
    var browser: BrowserBinding
    /// The user name in the page's field.
    var login: String
    var notice: Notice? { didSet { noticeUntil = nil } }
    /// The end of the wait that the notice asks for; `nil` for a notice that stays until the next step.
    var noticeUntil: Date?
    /// The rules that the last new password violated; `nil` for none.
    var violatedRules: [PasswordRule]?
    /// The ordinal of the challenge that the user abandoned for another factor (``SignInTransaction/challengeCount``); `nil` for none.
    var leftChallenge: Int?
    /// The input that the page waits for; `nil` if the user has started no further step since the password. A repeated password is
    /// accepted only then, see `HostedReproof.swift`.
    var awaited: Awaited?
    /// `true` after the user consented to the client's request; otherwise `nil`.
    var isAllowed: Bool?
    /// The error for the client; `nil` if the sign-in was not refused.
    var refused: Refused?
    /// The device that this sign-in authorizes; `nil` if the sign-in is for a client in the browser. A device polls for its tokens and gets
    /// no code.
    var device: HostedDevice?

    /// The channel of the second factor's code that the page waits for; `nil` for none.
    var sending: CodeChannel? { if case .sentCode(let channel) = awaited { channel } else { nil } }

    /// The channel of the phone or mail address that is being enrolled; `nil` for none.
    var setupChannel: CodeChannel? {
        switch awaited {
        case .number(let channel), .setupCode(_, let channel?): channel
        case .sentCode, .passkey, .savedCode, .newPasskey, .newSavedCodes, .setupCode, nil: nil
        }
    }

    /// The challenge of the passkey that is being created; `nil` for none.
    var newPasskey: PasskeyChallenge? { if case .newPasskey(let challenge) = awaited { challenge } else { nil } }

    /// The id of the pending enrollment; `nil` for none.
    var setupEnrollmentID: String? {
        switch awaited {
        case .setupCode(let id, _), .newSavedCodes(let id): id
        default: nil
        }
    }

    /// Stops waiting for the answer to a second factor.
    mutating func stopPresenting() {
        switch awaited {
        case .sentCode, .passkey, .savedCode: awaited = nil
        case .newPasskey, .newSavedCodes, .number, .setupCode, nil: break
        }
    }

    /// Ends the enrollment of a factor, and removes its notice.
    mutating func stopEnrolling() {
        notice = nil
        switch awaited {
        case .newPasskey, .newSavedCodes, .number, .setupCode: awaited = nil
        case .sentCode, .passkey, .savedCode, nil: break
        }
    }

    init(browser: BrowserBinding, login: String, device: HostedDevice? = nil) {
        (self.browser, self.login, self.device) = (browser, login, device)
    }

    /// Reads the state of a sign-in; `nil` if the sign-in is not on the pages.
    init?(_ door: DoorState?) {
        guard let value = door?.value(Self.self, of: Self.kind) else { return nil }
        self = value
    }

    var door: DoorState? { try? DoorState(Self.kind, self) }

    /// Returns the current notice; `nil` for none, and after the end of the wait that the notice asks for.
    func notice(at now: Date) -> Notice? { noticeUntil.map { now < $0 } ?? true ? notice : nil }
}

extension SignInRequest {
    /// Creates a request for a sign-in on the pages.
    init(onPagesOf application: Application, server: String?, scopes: [String], contextClasses: [String]) {
        self.init(
            application: application, server: server, scopes: scopes, contextClasses: contextClasses, presentable: FactorKind.onPages,
            rules: .pages)
    }
}

extension SignInTransaction {
    /// Starts a sign-in on the pages.
    init(_ request: SignInRequest, answering authorization: AuthorizationRequest, hosted: HostedSignIn, random: any RandomSource, now: Date)
        throws
    {
        self.init(id: try random.identifier(prefix: "txn"), request: request, now: now, lifetime: HostedSignIn.lifetime)
        self.authorization = Authorization(authorization)
        door = hosted.door
    }

    /// The state of the pages; `nil` for a sign-in of another protocol.
    var hosted: HostedSignIn? {
        get { HostedSignIn(door) }
        set { door = newValue?.door }
    }

    /// Ends the enrollment of a factor, and removes its notice.
    mutating func stopEnrolling() {
        phone = nil
        hosted?.stopEnrolling()
    }

    /// Stores the final outcome: the authentication, or the refusal that the client gets.
    mutating func record(_ outcome: Outcome) {
        switch outcome {
        case .authenticated(let proved): authentication = proved
        case .refused(let refusal): hosted?.refuse(refusal)
        default: break
        }
    }
}

extension DoorRules {
    static let pages: DoorRules = [
        .retriesFirstFactor, .asksForPasswordLater, .isInBrowser, .changesPassword, .enrollsFactors, .offersSetup,
    ]
}

extension FactorKind {
    /// The second factors that have a button or a field on the pages.
    static let onPages = Set(HostedFactor.allCases.map(\.kind))
}

/// The device that a sign-in on the pages authorizes; a part of its ``HostedSignIn``.
struct HostedDevice: Sendable, Equatable, Codable {
    enum Decision: String, Sendable, Codable {
        case allowed, denied
        /// Too late: the code had expired, or another user had decided.
        case late
    }

    /// The transaction of the device, which waits for the decision.
    var transactionID: String
    /// The code on the device's screen, for the user to compare.
    var userCode: String
    /// The decision; `nil` before it.
    var decision: Decision?
    /// The time at which the user allowed the device; otherwise `nil`.
    var decidedAt: Date?
}
