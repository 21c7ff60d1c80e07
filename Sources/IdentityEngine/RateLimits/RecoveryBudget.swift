internal import Foundation
internal import JOSE

/// A sign of an attack on the organization as a whole.
public enum SecuritySignal: String, Sendable, CaseIterable {
    /// A code or an answer in a recovery was wrong.
    case wrongRecoveryGuess = "wrong_recovery_guess"
    /// So many were wrong in this hour that recoveries get no further; reported once an hour.
    case recoveryBudgetSpent = "recovery_budget_spent"
}

/// Counts wrong codes and answers in the recoveries of all users together, in full hours.
///
/// An attacker who guesses at many accounts stays below each account's own limit. In memory and of this process, as request limits are. Safe
/// from any thread.
final class RecoveryBudget: Sendable {
    fileprivate struct State {
        var hour = Int.min
        var count = 0
    }

    private let state = Locked(State())

    /// Counts a wrong answer.
    ///
    /// - Returns: Whether it was the one with which the budget is spent.
    func count(limit: Int, now: Date) -> Bool {
        state.withLock { state in
            state.begin(now)
            state.count = min(state.count, limit) + 1
            return state.count == limit
        }
    }

    /// Whether there were so many in this hour that no further answer is looked at.
    func isSpent(limit: Int, now: Date) -> Bool {
        state.withLock { state in
            state.begin(now)
            return state.count >= limit
        }
    }
}

extension RecoveryBudget.State {
    /// Begins a new hour if there is one.
    fileprivate mutating func begin(_ now: Date) {
        let current = Int(clamping: (now.timeIntervalSince1970 / 3_600).rounded(.down))
        if current != hour { (hour, count) = (current, 0) }
    }
}
