package import Crypto
internal import Foundation
internal import JOSE

/// The master keys of a server. The first one encrypts, and each of them decrypts. While the master key is rotated, servers with the same
/// keys in different orders therefore work together.
package struct MasterKeys: Sendable, Equatable, Redacted {
    /// The maximum number of keys.
    package static let most = 3

    /// Encrypts new secrets, and makes new keyed digests.
    package let sealing: SymmetricKey
    /// The keys that only decrypt and verify: earlier keys, or the next one.
    package let others: [SymmetricKey]

    package init(_ sealing: SymmetricKey, others: [SymmetricKey] = []) {
        self.sealing = sealing
        self.others = others
    }

    package var all: [SymmetricKey] { [sealing] + others }

    /// The ids of the keys, in their order. An id identifies a key without revealing anything about it.
    package var ids: [String] { all.map(Self.id) }

    /// Returns the same keys with one of them moved to the first place.
    package func moved(toFirst index: Int) -> MasterKeys {
        var keys = all
        let first = keys.remove(at: index)
        return MasterKeys(first, others: keys)
    }

    /// Returns the id of a key: a value that is derived from it and used for nothing else.
    static func id(of key: SymmetricKey) -> String {
        HKDF<SHA256>.deriveKey(inputKeyMaterial: key, info: Data("countersign master key id".utf8), outputByteCount: 16)
            .withUnsafeBytes { Base64URL.encode(Array($0)) }
    }

    /// Returns the authentication code of a short-lived value, made with the first key.
    package func code(for value: [UInt8]) -> [UInt8] { Array(HMAC<SHA256>.authenticationCode(for: value, using: sealing)) }

    /// Whether one of the keys made an authentication code.
    package func isCode(_ code: [UInt8], for value: [UInt8]) -> Bool {
        all.contains { HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: value, using: $0) }
    }
}
