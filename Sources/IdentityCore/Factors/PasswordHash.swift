internal import Crypto
internal import CryptoExtras
internal import Foundation
internal import JOSE

/// A scrypt hash (RFC 7914) with its parameters: `$scrypt$ln=15,r=8,p=1$salt$hash`, salt and hash in base64 without padding.
struct PasswordHash: Sendable, Equatable, Redacted {
    /// The binary logarithm of the cost. A derivation needs 128 · r · 2^ln bytes of memory.
    var logN: Int
    var blockSize = 8
    var parallelism = 1
    var salt: [UInt8]
    var hash: [UInt8]

    /// Derives a hash. Slow: runs only on the hasher's own threads.
    init(deriving password: String, logN: Int, salt: [UInt8]) throws {
        self.logN = logN
        self.salt = salt
        hash = []
        hash = try derive(password)
    }

    /// Parses a stored hash; `nil` if it is invalid, or its parameters exceed the server's limits.
    init?(_ text: String) {
        let parts = text.split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0].isEmpty, parts[1] == "scrypt" else { return nil }
        var numbers: [Substring: Int] = [:]
        for pair in parts[2].split(separator: ",") {
            let sides = pair.split(separator: "=")
            guard sides.count == 2, let number = Int(sides[1]) else { return nil }
            numbers[sides[0]] = number
        }
        guard let logN = numbers["ln"], (1...20).contains(logN), let blockSize = numbers["r"], (1...8).contains(blockSize),
            let parallelism = numbers["p"], (1...4).contains(parallelism), let salt = Self.decode(parts[3]),
            let hash = Self.decode(parts[4]), hash.count == 32
        else { return nil }
        (self.logN, self.blockSize, self.parallelism, self.salt, self.hash) = (logN, blockSize, parallelism, salt, hash)
    }

    var text: String {
        "$scrypt$ln=\(logN),r=\(blockSize),p=\(parallelism)$\(Self.encode(salt))$\(Self.encode(hash))"
    }

    /// Whether the password matches, compared in constant time; takes as long as creating the hash.
    func matches(_ password: String) throws -> Bool {
        try derive(password).isSameSecret(as: hash)
    }

    private func derive(_ password: String) throws -> [UInt8] {
        // Normalizes the password, because keyboards compose characters differently (RFC 8265 section 4.2.2).
        var bytes = Data(password.precomposedStringWithCanonicalMapping.utf8)
        // The derivation requires a non-empty buffer. The empty password and a single NUL share a hash, but every policy requires more.
        if bytes.isEmpty { bytes = Data([0]) }
        let key = try KDF.Scrypt.deriveKey(
            from: bytes, salt: Data(salt), outputByteCount: 32, rounds: 1 << logN, blockSize: blockSize, parallelism: parallelism)
        return key.withUnsafeBytes { Array($0) }
    }

    private static func encode(_ bytes: [UInt8]) -> String {
        String(Data(bytes).base64EncodedString().prefix { $0 != "=" })
    }

    private static func decode(_ text: Substring) -> [UInt8]? {
        Data(base64Encoded: text + String(repeating: "=", count: (4 - text.count % 4) % 4)).map { [UInt8]($0) }
    }
}
