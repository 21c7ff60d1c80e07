internal import Crypto
internal import Foundation
internal import JOSE

/// The keys of values that must stay the same for years, also when the master key is rotated. They are derived from a root, which the
/// record of ``MasterKeyCheck`` contains encrypted:
/// - Decoys: an unknown user name must not change its number of factors.
/// - Tags: keyed digests of the org file's secrets, by which the next apply detects a change.
/// - Names of device seeds, by which the counter of a removed device is found.
package struct DerivedKeys: Sendable, Redacted {
    private static let size = 32

    let decoys: SymmetricKey
    private let seeds: SymmetricKey
    private let tags: SymmetricKey
    /// Hides the tags of a store whose root was its first master key, so that this key cannot verify guesses of passwords; `nil` for
    /// others.
    private let tagCover: SymmetricKey?

    /// Creates the keys of a root, or reads the keys that ``covering(_:isMasterKey:random:)`` returned. `nil` for another size.
    init?(root: [UInt8]) {
        switch root.count {
        case Self.size:
            let key = SymmetricKey(data: root)
            func derived(_ purpose: String) -> SymmetricKey {
                HKDF<SHA256>.deriveKey(
                    inputKeyMaterial: key, info: Data("countersign \(purpose)".utf8), outputByteCount: Self.size)
            }
            (decoys, seeds, tags, tagCover) = (derived("decoys"), derived("device seeds"), derived("org file passwords"), nil)
        case 4 * Self.size:
            func key(_ index: Int) -> SymmetricKey { SymmetricKey(data: root.dropFirst(index * Self.size).prefix(Self.size)) }
            (decoys, seeds, tags, tagCover) = (key(0), key(1), key(2), key(3))
        default: return nil
        }
    }

    /// Returns a new root, which no master key reveals.
    static func newRoot(_ random: any RandomSource) throws -> [UInt8] { try random.bytes(size) }

    /// Returns the root of a store whose root is a master key.
    static func root(_ masterKey: SymmetricKey) -> [UInt8] { masterKey.withUnsafeBytes { Array($0) } }

    /// Returns the root after a rotation. If it was a master key, that key must not stay in the store: returns the keys themselves, and one
    /// that covers the tags.
    static func covering(_ root: [UInt8], isMasterKey: Bool, random: any RandomSource) throws -> [UInt8] {
        guard isMasterKey, let keys = DerivedKeys(root: root) else { return root }
        return try [keys.decoys, keys.seeds, keys.tags].flatMap { key in key.withUnsafeBytes { Array($0) } } + random.bytes(size)
    }

    /// Returns the name of a device's seed, which is useless without the root.
    func name(ofSeed secret: [UInt8]) -> String {
        Base64URL.encode(Array(HMAC<SHA256>.authenticationCode(for: secret, using: seeds)))
    }

    /// Whether new tags are covered.
    var coversTags: Bool { tagCover != nil }

    /// Returns the tag of a secret of the org file; `nil` for no secret.
    func tag(of secret: String?, key: String) -> [UInt8]? {
        secret.map { covered(Array(HMAC<SHA256>.authenticationCode(for: Data((key + "\u{0}" + $0).utf8), using: tags))) }
    }

    private func covered(_ tag: [UInt8]) -> [UInt8] {
        tagCover.map { Array(HMAC<SHA256>.authenticationCode(for: tag, using: $0)) } ?? tag
    }

    /// Returns the applied values with covered tags, if this store covers them and they are not covered yet.
    func covering(_ applied: AppliedUser) -> AppliedUser {
        guard coversTags, applied.hasCoveredTags != true else { return applied }
        var next = applied
        next.passwordTag = applied.passwordTag.map(covered)
        next.totpTag = applied.totpTag.map(covered)
        next.deviceTag = applied.deviceTag.map(covered)
        next.hasCoveredTags = true
        return next
    }
}
