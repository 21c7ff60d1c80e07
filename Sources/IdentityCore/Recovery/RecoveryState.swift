package import Foundation
package import Store

/// A recovery, or the sign-in that it becomes, from one read.
package struct RecoveryState: Sendable {
    package let stored: StoredTransaction
    package let snapshot: OrgSnapshot
    package let user: StoredUser
    package let subject: SignInTransaction.Subject
    package let context: RequestContext
    /// Whether this is a repeated read for the same request.
    package let isRepeated: Bool
    /// The number of wrong guesses of all users in this hour.
    let budget: RecoveryBudget

    package var transaction: SignInTransaction { stored.value }
    package var recovery: Recovery? { transaction.recovery }
    package var channel: CodeChannel { recovery?.channel ?? .sms }
    package var question: QuestionMethod? { subject.enrollments.usable.lazy.compactMap(\.question).first }

    /// Finds the sign-in of a token. A recovery on the hosted pages continues only there, in its browser. Throws ``RecoveryRefusal`` if the
    /// sign-in cannot continue.
    /// - Parameters:
    ///   - kind: The kind of the token; all but state tokens are single-use.
    ///   - browser: The secret of the browser on the hosted pages; `nil` at an API.
    ///   - context: The request, whose time decides about expiry and whose origin decides about known devices.
    package init(
        _ token: String, of kind: TicketKind = .stateToken, browser: String? = nil, _ reading: Reading<some Sendable>,
        context: RequestContext
    ) throws {
        let (view, snapshot) = (reading.view, try reading.snapshot)
        guard token.utf8.count <= 64, case (let stored, .fresh)? = try view.transaction(kind, secret: token, now: context.now),
            stored.value.isForOrganization, kind != .stateToken || stored.value.isOpen(to: browser)
        else {
            let reason = kind == .stateToken ? "closed or of a page" : "used or too old"
            throw RecoveryRefusal.over("\(kind.rawValue): unknown, \(reason)")
        }
        guard snapshot.classicApplication != nil else { throw RecoveryRefusal.notEnabled }
        guard stored.value.end == nil, context.now < stored.value.expiresAt else { throw RecoveryRefusal.over("stateToken: expired") }
        // An unknown user name follows the same steps, until a code is correct.
        let unknown = stored.value.recovery?.stage == .code && stored.value.userID == nil ? StoredUser.unknown : nil
        guard let user = try view.record(.user, id: stored.value.userID ?? "").map(StoredUser.init) ?? unknown,
            stored.value.isAbout(user.value), stored.value.isRecoveryOpen(to: user.value),
            let subject = try view.subject(user.value, of: stored.value, snapshot: snapshot, from: context)
        else { throw RecoveryRefusal.over("stateToken: the account changed") }
        (self.stored, self.snapshot, self.user, self.subject) = (stored, snapshot, user, subject)
        (self.context, isRepeated) = (context, reading.isRepeated)
        budget = try view.recoveryBudget(at: context.now)
    }

    /// Creates the state of a new sign-in, which is no recovery, as its commit will store it.
    package init(
        committing transaction: SignInTransaction, of user: StoredUser, _ subject: SignInTransaction.Subject, snapshot: OrgSnapshot,
        context: RequestContext
    ) {
        (stored, self.user, self.subject) = (StoredTransaction(transaction, version: 1), user, subject)
        (self.snapshot, self.context, isRepeated, budget) = (snapshot, context, false, RecoveryBudget())
    }
}

extension SignInTransaction {
    /// Whether a caller may continue: on a page only with the secret of the browser, at an API without a secret.
    fileprivate func isOpen(to browser: String?) -> Bool {
        guard let page = recovery?.page else { return browser == nil }
        return browser.map(page.browser.isBound) ?? false
    }
}

extension StoredUser {
    /// The account of an unknown user name; never stored.
    fileprivate static let unknown = StoredUser(new: User(id: "", login: "", createdAt: .distantPast), origin: .api)
}

/// An expected error of a recovery. Each endpoint encodes the error in its protocol.
package enum RecoveryRefusal: Error, Sendable, Equatable {
    /// The organization has no policy for recoveries.
    case notEnabled
    /// The token belongs to no recovery that can continue; the reason is for the log.
    case over(_ reason: String)
    /// The recovery waits for another input.
    case otherStage
    /// The request names no channel for the message, and the caller is not allowed to get the token.
    case noChannel
    /// Too many attempts for one user name or from one address; the reason is for the log.
    case tooManyAttempts(RateLimitStatus, reason: String)
    /// The message is too early after the previous one, or exceeds a limit.
    case paced(CodeRefusal)
    /// Too many passwords wait to be hashed.
    case busy(until: Date)
    /// The code was wrong. `signal` is `nil` if the guess does not count towards the organization's limit.
    case wrongCode(signal: SecuritySignal?)
    case wrongAnswer(signal: SecuritySignal?)
    case unacceptablePassword([PasswordRule])
    /// The user does not exist; only a trusted caller gets this error.
    case unknownUser
    /// The account cannot be recovered; only a trusted caller gets this error.
    case closedAccount(Recovery.Kind)

    /// The signal of a wrong guess that counts; `nil` for every other error.
    package var guess: SecuritySignal? {
        switch self {
        case .wrongCode(let signal), .wrongAnswer(let signal): signal
        default: nil
        }
    }
}
