package import Foundation
internal import JOSE
internal import NIOConcurrencyHelpers

/// A sign of an attack on the organization as a whole.
package enum SecuritySignal: String, Sendable, CaseIterable {
    /// A code or an answer in a recovery was wrong.
    case wrongRecoveryGuess = "wrong_recovery_guess"
    /// The wrong guesses of this hour reached the limit, so recoveries are rejected; reported once per hour.
    case recoveryBudgetSpent = "recovery_budget_spent"
}

/// Counts wrong codes and answers in the recoveries of all users together, per full hour. An attacker who guesses at many accounts stays
/// below each account's limit. Kept in memory by each process, like request limits. Safe from any thread.
package final class RecoveryBudget: Sendable {
    fileprivate struct State {
        var hour = Int.min
        var count = 0
    }

    private let state = NIOLockedValueBox(State())

    /// Counts a wrong answer. Returns whether this answer spent the budget.
    package func count(limit: Int, now: Date) -> Bool {
        state.withLockedValue { state in
            state.begin(now)
            state.count = min(state.count, limit) + 1
            return state.count == limit
        }
    }

    func forgetAll() { state.withLockedValue { $0 = State() } }

    /// Whether the budget of this hour is spent, so that further answers are ignored.
    package func isSpent(limit: Int, now: Date) -> Bool {
        state.withLockedValue { state in
            state.begin(now)
            return state.count >= limit
        }
    }
}

extension RecoveryBudget.State {
    /// Resets the count when a new hour begins.
    fileprivate mutating func begin(_ now: Date) {
        let current = Int(clamping: (now.timeIntervalSince1970 / 3_600).rounded(.down))
        if current != hour { (hour, count) = (current, 0) }
    }
}
