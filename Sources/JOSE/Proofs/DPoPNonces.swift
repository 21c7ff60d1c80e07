internal import Crypto

/// The nonces of a server for DPoP proofs (RFC 9449 §8 and §9). They are issued and checked without being stored.
/// A nonce contains the number of its period and an HMAC tag. Server instances with the same key accept each other's nonces. The type is
/// `Sendable` and uses no lock.
public struct DPoPNonces: Sendable {
    /// The seconds after which a new nonce is issued.
    public let period: Double
    /// The number of periods for which a nonce is accepted after its own period.
    public let grace: Int
    private let key: SymmetricKey

    private static let tagSize = 16

    /// Creates nonces from a key.
    /// - Parameters:
    ///   - secret: The key: at least 16 random bytes with no other use.
    ///   - period: The seconds after which a new nonce is issued, at least 1; by default one day.
    ///   - grace: The number of additional periods for which a nonce is accepted, at least 0; by default 3.
    public init(secret: some Collection<UInt8>, period: Double = 86_400, grace: Int = 3) {
        key = SymmetricKey(data: Array(secret))
        self.period = max(period, 1)
        self.grace = max(grace, 0)
    }

    /// Returns the current nonce: 32 characters of base64url.
    /// - Parameter now: Seconds since 1970.
    public func current(at now: Double) -> String { nonce(of: number(at: now)) }

    /// Whether a nonce was made with this key and has not expired.
    /// A nonce of the next period is also accepted, because it may come from an instance whose clock is ahead.
    /// - Parameter now: Seconds since 1970.
    public func accepts(_ nonce: String, at now: Double) -> Bool {
        // Invalid base64url is rejected like any other invalid nonce.
        guard nonce.utf8.count == 32, let bytes = try? Base64URL.decode(nonce) else { return false }
        let number = bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let present = self.number(at: now)
        guard number <= present + 1, present <= number + UInt64(grace) else { return false }
        return tag(number).isSameSecret(as: bytes.dropFirst(8))
    }

    private func number(at now: Double) -> UInt64 { UInt64(clamping: max(0, min(now / period, 1e15))) }

    private func nonce(of number: UInt64) -> String { Base64URL.encode(Self.bytes(number) + tag(number)) }

    private func tag(_ number: UInt64) -> ArraySlice<UInt8> {
        Array(HMAC<SHA256>.authenticationCode(for: Self.bytes(number), using: key)).prefix(Self.tagSize)
    }

    private static func bytes(_ number: UInt64) -> [UInt8] {
        stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> UInt64($0)) }
    }
}
