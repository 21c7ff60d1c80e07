package import Foundation
package import Store

/// A recovery, or the sign-in that it becomes, as one read finds it.
package struct RecoveryState: Sendable {
    package let stored: StoredTransaction
    package let classic: ClassicSignIn
    package let snapshot: OrgSnapshot
    package let user: StoredUser
    package let subject: SignInTransaction.Subject
    package let context: RequestContext
    /// Whether the request was read before.
    package let isRepeated: Bool

    package var transaction: SignInTransaction { stored.value }
    package var recovery: ClassicRecovery? { classic.recovery }
    /// The channel of the code.
    package var channel: CodeChannel { recovery?.channel ?? .sms }
    /// The user's security question.
    package var question: QuestionMethod? { subject.enrollments.usable.lazy.compactMap(\.question).first }

    /// Finds the sign-in that a token leads to. A recovery on the hosted pages continues there only, in its browser.
    ///
    /// - Parameters:
    ///   - token: The token.
    ///   - kind: The kind of the token; all but state tokens are single-use.
    ///   - browser: The secret of the browser on the hosted pages; `nil` at an API.
    ///   - reading: The read of the request.
    ///   - context: The time, for expiry; the origin, for known devices.
    /// - Throws: ``RecoveryRefusal`` if the sign-in can't continue; ``StoreError`` if the store failed.
    package init(
        _ token: String, of kind: TicketKind = .stateToken, browser: String? = nil, _ reading: Reading<some Sendable>,
        context: RequestContext
    ) throws {
        let (view, snapshot) = (reading.view, try reading.snapshot)
        guard token.utf8.count <= 64, case (let stored, .fresh)? = try view.transaction(kind, secret: token, now: context.now),
            let classic = stored.value.classic, kind != .stateToken || classic.isOpen(to: browser)
        else {
            let reason = kind == .stateToken ? "closed or of a page" : "used or too old"
            throw RecoveryRefusal.over("\(kind.rawValue): unknown, \(reason)")
        }
        guard snapshot.classicApplication != nil else { throw RecoveryRefusal.notEnabled }
        guard stored.value.end == nil, context.now < stored.value.expiresAt else { throw RecoveryRefusal.over("stateToken: expired") }
        // An unknown user name follows the same steps, until a code is correct.
        let nobody = classic.recovery?.stage == .code && stored.value.userID == nil ? StoredUser.nobody : nil
        guard let user = try view.record(.user, id: stored.value.userID ?? "").map(StoredUser.init) ?? nobody,
            stored.value.isAbout(user.value), stored.value.isRecoveryOpen(to: user.value),
            let subject = try view.subject(user.value, of: stored.value, snapshot: snapshot, from: context)
        else { throw RecoveryRefusal.over("stateToken: the account changed") }
        (self.stored, self.classic, self.snapshot, self.user, self.subject) = (stored, classic, snapshot, user, subject)
        (self.context, isRepeated) = (context, reading.isRepeated)
    }
}

extension ClassicSignIn {
    /// Whether a caller may continue: on a page only with the secret of the browser, at an API without a secret.
    fileprivate func isOpen(to browser: String?) -> Bool {
        guard let page else { return browser == nil }
        return browser.map(page.browser.isBound) ?? false
    }
}

extension StoredUser {
    /// The account of an unknown user name; never stored.
    fileprivate static let nobody = StoredUser(new: User(id: "", login: "", createdAt: .distantPast), origin: .api)
}

/// An expected refusal of a recovery. Each endpoint spells it in its protocol.
package enum RecoveryRefusal: Error, Sendable, Equatable {
    /// The organization has no policy for recoveries.
    case notEnabled
    /// The token leads to no recovery that can continue; the reason is for the log.
    case over(_ reason: String)
    /// The recovery is at another stage.
    case otherStage
    /// The request names no channel for the message, and the caller may not get the token.
    case noChannel
    /// Too many attempts for one user name or from one address; the reason is for the log.
    case tooManyAttempts(RateLimitStatus, reason: String)
    /// The message would follow too soon after another one, or is one too many.
    case paced(CodeRefusal)
    /// Too many passwords wait to be hashed.
    case busy(until: Date)
    /// The code was wrong. `limit` is the limit of the organization against which the guess counts; `nil` if it does not count.
    case wrongCode(limit: Int?)
    /// The answer to the security question was wrong.
    case wrongAnswer(limit: Int?)
    /// The new password violates these rules.
    case unacceptablePassword([PasswordRule])
    /// There is no such user; only a trusted caller gets this refusal.
    case unknownUser
    /// The account can't be recovered; only a trusted caller gets this refusal.
    case closedAccount(ClassicRecovery.Kind)

    /// The limit of the organization against which a wrong guess counts; `nil` for every other refusal.
    package var guessLimit: Int? {
        switch self {
        case .wrongCode(let limit), .wrongAnswer(let limit): limit
        default: nil
        }
    }
}
