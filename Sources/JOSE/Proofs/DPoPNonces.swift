internal import Crypto

/// The nonces that a server hands out for proofs (RFC 9449, sections 8 and 9), without remembering any.
///
/// A nonce says when it was new and is authenticated by a key that the server keeps, so that every instance with the same key
/// knows the nonces of the others. It changes once per ``period`` and is accepted for some periods more. `Sendable`; takes no lock.
public struct DPoPNonces: Sendable {
    /// Seconds after which there is a new nonce.
    public let period: Double
    /// For how many periods a nonce is accepted after the one that it was new in.
    public let grace: Int
    private let key: SymmetricKey

    private static let tagSize = 16

    /// Makes the nonces of one key.
    ///
    /// - Parameters:
    ///   - secret: The key, at least 16 bytes that nobody can guess, used for nothing else.
    ///   - period: Seconds after which there is a new nonce, at least 1; a day by default.
    ///   - grace: For how many periods more a nonce is accepted, at least 0; three by default.
    public init(secret: some Collection<UInt8>, period: Double = 86_400, grace: Int = 3) {
        key = SymmetricKey(data: Array(secret))
        self.period = max(period, 1)
        self.grace = max(grace, 0)
    }

    /// The nonce to hand out.
    ///
    /// - Parameter now: Seconds since 1970.
    /// - Returns: 32 characters of base64url.
    public func current(at now: Double) -> String { nonce(of: number(at: now)) }

    /// Whether a nonce is one of this key's and not too old.
    ///
    /// One of the period to come is accepted as well: an instance whose clock is ahead may have handed it out.
    ///
    /// - Parameters:
    ///   - nonce: What a proof carries.
    ///   - now: Seconds since 1970.
    /// - Returns: Whether it is good.
    public func accepts(_ nonce: String, at now: Double) -> Bool {
        // What is no base64url is no nonce of ours: both mean the same here.
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
