internal import IdentityCore
internal import JOSE

/// A public key that a device registers (Documentation/Protocol/Devices.md §3.1 and §3.2).
struct DeviceKey: Sendable, Equatable {
    private static let longestID = 200

    /// The stored form: the public members, the id, and whether the key is in hardware.
    let json: JSONValue
    let id: String
    /// The thumbprint of the key, which does not depend on its id.
    let thumbprint: String

    /// Reads a public P-256 or RSA key with an id; throws `E0000001` for any other value. `name` is the name of the member for the error.
    init(_ json: JSONValue, name: String) throws(DeviceRefusal) {
        let key: JSONWebKey
        do {
            key = try JSONWebKey(json)
            // Rejects points that are not on the curve, and RSA keys that are too short.
            _ = try VerificationKey(key, algorithm: DeviceToken.algorithm(of: key))
        } catch {
            throw .invalid(name, [error.message])
        }
        guard !key.isPrivate, let shared = key.publicKey else {
            throw .invalid(name, ["The key has its private part. Send the public part only, and make a new key: this one is known now."])
        }
        guard let id = key.keyID, !id.isEmpty, id.utf8.count <= Self.longestID else {
            throw .invalid(name, ["The key needs an id (kid) of at most \(Self.longestID) bytes."])
        }
        var stored = shared.json()
        stored["okta:kpr"] = json["okta:kpr"]?.stringValue.flatMap { ["HARDWARE", "SOFTWARE"].contains($0) ? .string($0) : nil }
        self.json = stored
        self.id = id
        thumbprint = key.thumbprint
    }

    /// Reads a stored key; `nil` if it is invalid.
    init?(stored json: JSONValue?) {
        guard let json, let key = try? DeviceKey(json, name: "") else { return nil }
        self = key
    }

    /// Checks that all keys differ in id and thumbprint, because a signature for one role must never be valid for another. Throws
    /// `E0000001`.
    static func checkDifferent(_ keys: [DeviceKey?]) throws(DeviceRefusal) {
        let keys = keys.compactMap { $0 }
        guard Set(keys.map(\.id)).count == keys.count, Set(keys.map(\.thumbprint)).count == keys.count else {
            throw .invalid("keys", ["Each role needs a key of its own, with an id (kid) of its own."])
        }
    }
}
