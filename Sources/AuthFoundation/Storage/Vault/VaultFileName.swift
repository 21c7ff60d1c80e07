import Foundation

/// The file names in a vault. Ids are encoded in hexadecimal, which is safe on case-insensitive file systems and prevents path traversal.
enum VaultFileName {
    static let lock = "lock"
    static let defaultToken = "default.json"

    private static let longestID = 110

    static func credential(_ id: String) throws -> String { try name("credential-", id, ".json") }
    static func revocation(_ id: String) throws -> String { try name("revocation-", id, ".json") }
    static func dpopKey(_ name: String) throws -> String { try Self.name("dpop-", name, ".json") }
    static func refreshLock(_ id: String) throws -> String { try name("refresh-", id, ".lock") }

    /// Whether a name belongs to a file that the token storage writes through a temporary file. Lock files and DPoP keys are excluded.
    static func isOurs(_ name: String) -> Bool {
        name.hasPrefix("credential-") || name.hasPrefix("revocation-")
            || [defaultToken, VaultKey.fileName, VaultKeySource.headerFile].contains(name)
    }

    static func credentialIDs(in folder: VaultFolder) throws -> [String] { try ids("credential-", in: folder) }
    static func revocationIDs(in folder: VaultFolder) throws -> [String] { try ids("revocation-", in: folder) }

    private static func name(_ prefix: String, _ id: String, _ suffix: String) throws -> String {
        guard (1...longestID).contains(id.utf8.count) else {
            throw VaultError(.invalidIdentifier, entry: id, "The id of a stored token has 1 to \(longestID) bytes, not \(id.utf8.count).")
        }
        let digits = Array("0123456789abcdef".utf8)
        let hexadecimal = id.utf8.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return prefix + String(decoding: hexadecimal, as: UTF8.self) + suffix
    }

    private static func ids(_ prefix: String, in folder: VaultFolder) throws -> [String] {
        try folder.names(beginning: prefix, ending: ".json")
            .compactMap { id(fromHexadecimal: $0.dropFirst(prefix.count).dropLast(".json".count)) }
            .sorted()
    }

    private static func id(fromHexadecimal text: Substring) -> String? {
        let digits = text.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count == text.utf8.count, digits.count % 2 == 0, !digits.isEmpty else { return nil }
        let bytes = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
        return String(bytes: bytes, encoding: .utf8)
    }
}
