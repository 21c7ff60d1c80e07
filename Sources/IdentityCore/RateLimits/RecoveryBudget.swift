package import Foundation
internal import JOSE
package import Store

/// A sign of an attack on the organization as a whole.
package enum SecuritySignal: String, Sendable, CaseIterable {
    /// A code or an answer in a recovery was wrong.
    case wrongRecoveryGuess = "wrong_recovery_guess"
    /// The wrong guesses of this hour reached the limit, so recoveries from unknown origins are rejected; reported once per hour.
    case recoveryBudgetSpent = "recovery_budget_spent"
}

/// The number of wrong codes and answers in the recoveries of all users together, per full hour; a record that all servers share. The
/// limits of single accounts do not stop an attacker who guesses at many accounts.
struct RecoveryBudget: Codable, Sendable {
    var count = 0
    /// The version of the record; 0 if there is none.
    var version: Int64 = 0

    private enum CodingKeys: String, CodingKey { case count }

    fileprivate static func id(at now: Date) -> String { "recovery guesses \(hour(of: now))" }

    private static func hour(of now: Date) -> Int { Int(clamping: (now.timeIntervalSince1970 / 3_600).rounded(.down)) }

    func isSpent(_ snapshot: OrgSnapshot) -> Bool { count >= snapshot.rateLimits.recoveryGuesses }

    /// Returns the writes that count a wrong guess, and its signal, for the commit of the guess.
    func counting(_ snapshot: OrgSnapshot, now: Date) throws -> (Writes, SecuritySignal) {
        guard !isSpent(snapshot) else { return (Writes(), .wrongRecoveryGuess) }
        var next = self
        next.count += 1
        let record = Record(
            kind: .limitCount, id: Self.id(at: now), version: version,
            expiresAt: Date(clampingNumericDate: Double(Self.hour(of: now) + 2) * 3_600), payload: try RecordCoding.encode(next))
        var writes = Writes([.put(record)])
        writes.countsGuess = true
        guard next.isSpent(snapshot) else { return (writes, .wrongRecoveryGuess) }
        let reason = "\(next.count) wrong codes and answers in recoveries within an hour; no more are looked at from unknown origins"
        writes.log("security.recovery.budget", .denied, reason: reason)
        return (writes, .recoveryBudgetSpent)
    }
}

extension Lookup.Node {
    /// The wrong guesses of this hour.
    package static func recoveryBudget(at now: Date) -> Self { .record(.limitCount, id: RecoveryBudget.id(at: now)) }
}

extension StoreView {
    /// Returns the budget of this hour.
    func recoveryBudget(at now: Date) throws -> RecoveryBudget {
        guard let record = try record(.limitCount, id: RecoveryBudget.id(at: now)) else { return RecoveryBudget() }
        var budget = try RecordCoding.decode(RecoveryBudget.self, from: record)
        budget.version = record.version
        return budget
    }
}

extension Engine {
    /// Reports a wrong guess in a recovery, after its commit.
    package func reportGuess(_ signal: SecuritySignal) {
        report(.wrongRecoveryGuess)
        if signal == .recoveryBudgetSpent { report(signal) }
    }
}
