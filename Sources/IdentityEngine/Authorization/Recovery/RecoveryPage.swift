internal import Foundation
public import JOSE

/// What a recovery on the hosted pages knows beside; a part of its ``ClassicSignIn``. Its token is good on the pages only, and there
/// only in the browser that it began in.
struct RecoveryPage: Sendable, Equatable, Codable {
    /// What the page tells about the step before.
    enum Notice: String, Sendable, Codable {
        case wrongCode, wrongAnswer, passwordsDiffer
        /// Another message was sent a moment ago.
        case sentJustNow
        case tooManyAttempts, busy
    }

    /// The browser that it continues in.
    var browser: BrowserBinding
    /// The digest of the correct code; `nil` before the user entered it.
    var acceptedCode: [UInt8]?
    /// The number of repeated codes from browsers that have only the secret from before the proof.
    var repeatedCodes: Int?
    /// The token of the sign-in that it was begun from, sealed; nil for none.
    var signIn: [UInt8]?
    /// The languages that the application asked for.
    var locales: [String] = []
    var notice: Notice? { didSet { noticeUntil = nil } }
    /// When it is over what the notice tells to wait for; nil for what stays until the next step.
    var noticeUntil: Date?
    /// What the last new password was refused for; nil for none.
    var violatedRules: [PasswordRule]?
}

extension RecoveryPage {
    /// What the page tells at a moment: nobody is told to wait for what is over.
    func notice(at now: Date) -> Notice? { noticeUntil.map { now < $0 } ?? true ? notice : nil }
}

/// The page that a recovery is begun on.
struct RecoveryBeginning: Sendable {
    /// The secret of the browser.
    var browser: String
    /// The token of the sign-in.
    var signIn: String
    /// The languages that the application asked for.
    var locales: [String]
}

extension RecoveryPage {
    /// A recovery that is begun from a sign-in.
    init(_ beginning: RecoveryBeginning, of transactionID: String, environment: EngineEnvironment) throws {
        browser = BrowserBinding(beginning.browser)
        locales = beginning.locales
        signIn = try RecordCoding.seal(
            Array(beginning.signIn.utf8), for: RecordReference(.transaction, transactionID), environment: environment)
    }

    /// A recovery that goes on by the link of a mail, in whichever browser that was opened. Only the one that it was begun in is led back
    /// to the sign-in.
    init(in start: String, bound: String, continuing earlier: RecoveryPage?) {
        browser = BrowserBinding(start)
        browser.bind(to: bound)
        guard let earlier, earlier.browser.start == browser.start else { return }
        (signIn, locales) = (earlier.signIn, earlier.locales)
    }

    /// The token of the sign-in that it was begun from; nil for none.
    func signInToken(of transactionID: String, environment: EngineEnvironment) throws -> String? {
        try signIn.map {
            let secret = try RecordCoding.open(
                $0, for: RecordReference(.transaction, transactionID), masterKey: environment.masterKey)
            return String(decoding: secret, as: UTF8.self)
        }
    }
}

extension RecoveryPage.Notice {
    /// What a page tells of a refusal; nil where the page itself tells.
    init?(_ refusal: ClassicRefusal) {
        switch refusal.code {
        case "E0000068": self = .wrongCode
        case "E0000087": self = .wrongAnswer
        case "E0000109", "E0000118", "E0000133": self = .sentJustNow
        case "E0000047": self = refusal.rateLimit?.limit == 0 ? .busy : .tooManyAttempts
        default: return nil
        }
    }
}

/// What a person does on the pages of a recovery.
public enum RecoveryAction: Sendable {
    /// Gives the code that was sent.
    case code(String)
    /// Asks for another.
    case resend
    /// Answers their security question.
    case answer(String)
    /// Gives another password, twice.
    case password(String, repeated: String)
}

extension RecoveryAction: Redacted {
    /// What kind of step it is; never what was typed.
    public var description: String {
        switch self {
        case .code: "code"
        case .resend: "resend"
        case .answer: "answer"
        case .password: "password"
        }
    }
}

extension ClassicPolicy {
    /// Whether people get back into their accounts by themselves; that they unlock them, where `isUnlock`.
    func allowsRecovery(isUnlock: Bool) -> Bool { !recovery.isEmpty && (!isUnlock || unlocksBySelfService) }
}
