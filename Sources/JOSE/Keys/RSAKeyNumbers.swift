internal import Crypto
internal import CryptoExtras

/// The numbers of an RSA key, big-endian and without leading zeros.
struct RSAKeyNumbers: Sendable, Hashable {
    struct PrivateNumbers: Sendable, Hashable {
        var d: [UInt8]
        var p: [UInt8]
        var q: [UInt8]
        var dp: [UInt8]
        var dq: [UInt8]
        var qi: [UInt8]
    }

    /// The minimum modulus length in bits (RFC 7518 §3.3).
    static let minimumModulusSize = 2048
    /// The maximum modulus length in bits. Longer keys make verification too expensive.
    static let maximumModulusSize = 8192

    var n: [UInt8]
    var e: [UInt8]
    var privateNumbers: PrivateNumbers?

    /// The modulus length in bits.
    var modulusSize: Int { n.count * 8 - (n.first?.leadingZeroBitCount ?? 0) }
}

extension RSAKeyNumbers {
    init(_ key: _RSA.Signing.PrivateKey) throws(JOSEError) {
        // PKCS #1 (RFC 8017, appendix A.1.2): version, n, e, d, p, q, dp, dq, qi.
        var reader = DERIntegers(Array(key.derRepresentation))
        guard let numbers = reader.readSequence(), numbers.count == 9 else {
            throw JOSEError(.invalidKey, "The RSA key could not be read.")
        }
        self.init(
            n: numbers[1], e: numbers[2],
            privateNumbers: PrivateNumbers(
                d: numbers[3], p: numbers[4], q: numbers[5], dp: numbers[6], dq: numbers[7], qi: numbers[8]))
    }

    init(_ key: _RSA.Signing.PublicKey) throws(JOSEError) {
        guard let primitives = try? key.getKeyPrimitives() else { throw JOSEError(.invalidKey, "The RSA key could not be read.") }
        self.init(n: Array(primitives.modulus), e: Array(primitives.publicExponent), privateNumbers: nil)
    }

    func checkSize() throws(JOSEError) {
        guard modulusSize >= Self.minimumModulusSize else {
            throw JOSEError(
                .invalidKey, "The RSA key has \(modulusSize) bits; at least \(Self.minimumModulusSize) are needed (RFC 7518, section 3.3).")
        }
        guard modulusSize <= Self.maximumModulusSize else {
            throw JOSEError(.invalidKey, "The RSA key has \(modulusSize) bits; at most \(Self.maximumModulusSize) are accepted.")
        }
    }

    func signingKey() throws(JOSEError) -> _RSA.Signing.PrivateKey {
        guard let secret = privateNumbers else { throw JOSEError(.invalidKey, "The RSA key has no private part to sign with.") }
        try checkSize()
        guard let key = try? _RSA.Signing.PrivateKey(n: n, e: e, d: secret.d, p: secret.p, q: secret.q) else {
            throw JOSEError(.invalidKey, "The numbers of the RSA key do not belong together.")
        }
        return key
    }

    func verificationKey() throws(JOSEError) -> _RSA.Signing.PublicKey {
        try checkSize()
        guard let key = try? _RSA.Signing.PublicKey(n: n, e: e) else {
            throw JOSEError(.invalidKey, "The numbers of the RSA key are not those of a public key.")
        }
        return key
    }
}

extension RSAKeyNumbers.PrivateNumbers {
    /// Computes the primes of a private key that is given without them. RFC 7518 §6.3.2 allows such keys.
    init(n: [UInt8], e: [UInt8], d: [UInt8]) throws(JOSEError) {
        guard let key = try? _RSA.Signing.PrivateKey._createFromNumbers(n: n, e: e, d: d),
            let numbers = try RSAKeyNumbers(key).privateNumbers
        else { throw JOSEError(.invalidKey, "The numbers of the RSA key do not belong together.") }
        self = numbers
    }
}

/// A reader of a DER sequence that contains only integers.
private struct DERIntegers {
    private var bytes: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { self.bytes = bytes[...] }

    /// Returns the integers without leading zeros, or `nil` if the input is anything else.
    mutating func readSequence() -> [[UInt8]]? {
        guard let content = readElement(tag: 0x30), bytes.isEmpty else { return nil }
        bytes = content
        var integers: [[UInt8]] = []
        while !bytes.isEmpty {
            guard let integer = readElement(tag: 0x02) else { return nil }
            integers.append(Array(integer.drop { $0 == 0 }))
        }
        return integers
    }

    private mutating func readElement(tag: UInt8) -> ArraySlice<UInt8>? {
        guard bytes.popFirst() == tag, let first = bytes.popFirst() else { return nil }
        var count = Int(first)
        if first >= 0x80 {
            let width = Int(first & 0x7F)
            guard 1...3 ~= width, bytes.count >= width else { return nil }
            count = bytes.prefix(width).reduce(0) { $0 << 8 | Int($1) }
            bytes = bytes.dropFirst(width)
        }
        guard bytes.count >= count else { return nil }
        defer { bytes = bytes.dropFirst(count) }
        return bytes.prefix(count)
    }
}
