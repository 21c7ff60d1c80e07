internal import JOSE
internal import NIOConcurrencyHelpers

/// Remembers accepted proofs until they expire, so that none is accepted twice (RFC 9449 §11.1).
/// A full cache accepts no more proofs, because a forgotten proof could be replayed. Each key may use a sixteenth of the capacity, so that
/// one client cannot fill the cache. Proofs are grouped by expiry, which makes removal cheap. Thread-safe, with one short lock.
final class ProofReplayCache: Sendable {
    enum Outcome: Equatable, Sendable {
        case fresh, used, full
    }

    /// The first 16 bytes of a fingerprint. For a SHA-256 hash, collisions are infeasible.
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
        /// The number of remembered proofs of each key that has any.
        var shares: [Fingerprint: Int] = [:]
        /// The oldest time slice that has not been removed.
        var oldest = Int.min
    }

    /// The length of a time slice, in seconds. The proofs of a slice are removed together.
    private static let slice: Double = 15

    private let capacity: Int
    private let share: Int
    private let state = NIOLockedValueBox(State())

    init(capacity: Int) {
        self.capacity = capacity
        share = max(capacity / 16, 1)
    }

    /// The number of remembered proofs.
    var count: Int { state.withLockedValue { $0.known.count } }

    /// Marks a proof as used, unless it was used before or the cache is full.
    /// - Parameters:
    ///   - fingerprint: A hash that identifies the proof, at least 16 bytes.
    ///   - thumbprint: The thumbprint of the key that signed the proof.
    ///   - end: The last second in which the proof is accepted, since 1970.
    ///   - now: Seconds since 1970.
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
            // Rejects proofs from removed slices: if the clock was set back, their replays cannot be detected.
            guard slice >= state.oldest, !state.known.contains(proof) else { return .used }
            guard state.known.count < capacity, state.shares[key, default: 0] < share else { return .full }
            state.known.insert(proof)
            state.shares[key, default: 0] += 1
            state.endings[slice, default: []].append((proof, key))
            return .fresh
        }
    }
}
