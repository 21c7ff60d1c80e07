internal import JOSE
internal import NIOConcurrencyHelpers

/// The proofs that were accepted and could be again, so that none is (RFC 9449 section 11.1).
///
/// Bounded: when it is full it takes no more, for a proof that is forgotten before its time could be replayed. Each key has a share of a
/// sixteenth, so that one client can't fill it for all. Kept by the time that they end, so that forgetting them costs what remembering did.
/// One short lock; safe from any thread.
final class ProofReplayCache: Sendable {
    enum Outcome: Equatable, Sendable {
        case fresh, used, full
    }

    /// Half of a SHA-256: chance never makes two of them equal, and nobody can.
    private struct Fingerprint: Hashable, Sendable {
        let high: UInt64
        let low: UInt64

        init(_ bytes: [UInt8]) {
            high = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
            low = bytes.dropFirst(8).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        }
    }

    private struct State: Sendable {
        var known: Set<Fingerprint> = []
        var endings: [Int: [(proof: Fingerprint, key: Fingerprint)]] = [:]
        /// How many are remembered of each key; none of those that have none.
        var shares: [Fingerprint: Int] = [:]
        /// The first slice that was not forgotten yet.
        var oldest = Int.min
    }

    /// Seconds of proofs that are forgotten together.
    private static let slice: Double = 15

    private let capacity: Int
    private let share: Int
    private let state = NIOLockedValueBox(State())

    init(capacity: Int) {
        self.capacity = capacity
        share = max(capacity / 16, 1)
    }

    /// How many are remembered now.
    var count: Int { state.withLockedValue { $0.known.count } }

    /// Uses a proof.
    ///
    /// - Parameters:
    ///   - fingerprint: At least 16 bytes of a hash that names the proof.
    ///   - thumbprint: The thumbprint of the key that made it.
    ///   - end: The last second that it is accepted, since 1970.
    ///   - now: Seconds since 1970.
    /// - Returns: Whether it was used before; if it was not, it is now, unless there is no room.
    func use(_ fingerprint: [UInt8], of thumbprint: String, until end: Double, now: Double) -> Outcome {
        let (proof, key) = (Fingerprint(fingerprint), Fingerprint(Array(thumbprint.utf8)))
        let (slice, present) = (Int(clamping: end / Self.slice), Int(clamping: now / Self.slice))
        return state.withLockedValue { state in
            if state.oldest < present {
                for ended in state.endings.keys where ended < present {
                    for (proof, key) in state.endings.removeValue(forKey: ended) ?? [] {
                        state.known.remove(proof)
                        let left = (state.shares[key] ?? 1) - 1
                        state.shares[key] = left > 0 ? left : nil
                    }
                }
                state.oldest = present
            }
            // A clock that was set back: what was forgotten cannot be told from what is new.
            guard slice >= state.oldest, !state.known.contains(proof) else { return .used }
            guard state.known.count < capacity, state.shares[key, default: 0] < share else { return .full }
            state.known.insert(proof)
            state.shares[key, default: 0] += 1
            state.endings[slice, default: []].append((proof, key))
            return .fresh
        }
    }
}
