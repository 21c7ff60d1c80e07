internal import NIOConcurrencyHelpers

/// The proofs that were accepted and could be again, so that none is (RFC 9449 section 11.1).
///
/// Bounded: when it is full it takes no more, for a proof that is forgotten before its time could be replayed. Kept by the time that they
/// end, so that forgetting them costs what remembering did. One short lock; safe from any thread.
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
        var endings: [Int: [Fingerprint]] = [:]
        /// The first slice that was not forgotten yet.
        var oldest = Int.min
    }

    /// Seconds of proofs that are forgotten together.
    private static let slice: Double = 15

    private let capacity: Int
    private let state = NIOLockedValueBox(State())

    init(capacity: Int) { self.capacity = capacity }

    /// How many are remembered now.
    var count: Int { state.withLockedValue { $0.known.count } }

    /// Uses a proof.
    ///
    /// - Parameters:
    ///   - fingerprint: At least 16 bytes of a hash that names the proof.
    ///   - end: The last second that it is accepted, since 1970.
    ///   - now: Seconds since 1970.
    /// - Returns: Whether it was used before; if it was not, it is now, unless there is no room.
    func use(_ fingerprint: [UInt8], until end: Double, now: Double) -> Outcome {
        let key = Fingerprint(fingerprint)
        let (slice, present) = (Int(end / Self.slice), Int(now / Self.slice))
        return state.withLockedValue { state in
            if state.oldest < present {
                for ended in state.endings.keys where ended < present {
                    state.known.subtract(state.endings.removeValue(forKey: ended) ?? [])
                }
                state.oldest = present
            }
            // A clock that was set back: what was forgotten cannot be told from what is new.
            guard slice >= state.oldest, !state.known.contains(key) else { return .used }
            guard state.known.count < capacity else { return .full }
            state.known.insert(key)
            state.endings[slice, default: []].append(key)
            return .fresh
        }
    }
}
