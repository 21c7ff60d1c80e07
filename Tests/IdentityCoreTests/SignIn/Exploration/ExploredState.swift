import Foundation

@testable import IdentityCore

/// A transaction, the ledger's notes about it, and the time.
struct ExploredState {
    var transaction: SignInTransaction
    var ledger = SignInLedger()
    /// The time in seconds since the start.
    var now = 0

    /// The digest of the values that determine later results. If two states have the same digest, every sequence of inputs has the same
    /// results in both.
    ///
    /// The digest covers everything that a step can change, except:
    ///
    /// - the number of challenges, and their ids: an input answers the last challenge or the one before, whatever their numbers are;
    /// - earlier challenges, because no input answers them;
    /// - the times at which challenges were sent, because no step reads them;
    /// - the members of the challenge, because the ledger describes them;
    /// - the notes that ``SignInLedger/essential(now:)`` omits;
    /// - proofs between the first and the last one of a kind: steps use the kinds, their order, the first and the last time, and the last
    ///   password.
    var digest: StateDigest { StateDigest { combine(into: &$0, ledger.essential(now: now)) } }

    /// The digest of all values. If two states have the same digest, they are equal.
    var exactDigest: StateDigest {
        StateDigest {
            combine(into: &$0, ledger)
            $0.combine(transaction.challengeCount)
            $0.combine(transaction.sentChallenges)
            $0.combine(transaction.proofs.map(\.time))
            $0.combine(transaction.replacedChallenges?.map(\.targets[0].id))
            $0.combine(transaction.replacedChallenges?.map(\.expiresAt))
            // The rest of the challenge follows from the ledger, which describes it.
            if case .failed(_, let reason, _) = transaction.challenge?.state { $0.combine(reason) }
        }
    }

    private func combine(into hasher: inout Hasher, _ ledger: SignInLedger) {
        hasher.combine(ledger)
        hasher.combine(now)
        hasher.combine(transaction.userID)
        hasher.combine(transaction.account?.passwordChangedAt)
        hasher.combine(transaction.account?.deactivatedAt)
        hasher.combine(transaction.end)
        hasher.combine(transaction.wrongAnswers)
        hasher.combine(transaction.keepsPassword)
        hasher.combine(transaction.inherited)
        hasher.combine(transaction.countedChallenge == transaction.challengeCount)
        hasher.combine(transaction.reportedChallenge == transaction.challengeCount)
        let replaced = transaction.replacedChallenges?.last
        hasher.combine(replaced.flatMap { $0.isOpen(at: ExploredPolicy.time(now)) ? $0.expiresAt : nil })
        for proof in transaction.proofs.ends(after: transaction.inherited, sameKind: { $0.factor == $1.factor && $0.methods == $1.methods })
        {
            hasher.combine(proof.factor.rawValue)
            hasher.combine(proof.factorClasses)
            hasher.combine(proof.methods)
            hasher.combine(proof.enrollmentID)
            hasher.combine(proof.time)
        }
    }
}

/// A digest of a state with 128 bits. The probability that two of n states have the same digest is n²/2¹²⁹. For ten million states it is
/// below 10⁻²⁴.
struct StateDigest: Hashable {
    private let high: Int
    private let low: Int

    init(_ combine: (inout Hasher) -> Void) {
        func half(_ seed: Int) -> Int {
            var hasher = Hasher()
            hasher.combine(seed)
            combine(&hasher)
            return hasher.finalize()
        }
        (high, low) = (half(0), half(1))
    }
}

extension Array {
    /// Returns the elements before an index, and the first and the last element of each kind after it.
    func ends(after start: Int, sameKind: (Element, Element) -> Bool) -> [Element] {
        guard count > start + 2 else { return self }
        return indices.filter { index in
            index < start || !self[start..<index].contains { sameKind($0, self[index]) }
                || !self[(index + 1)...].contains { sameKind($0, self[index]) }
        }.map { self[$0] }
    }
}
