import AuthFoundation
import CountersignSandbox
import Foundation
import JOSE

/// A folder of passkeys in software: mode 0700, with a file of mode 0600 for each passkey.
struct PasskeyStore: Sendable {
    private static let (prefix, suffix) = ("passkey-", ".json")

    let folder: URL

    init(_ folder: URL) { self.folder = folder }

    private var files: VaultFolder { VaultFolder(path: folder.standardizedFileURL.path) }

    /// The stored passkeys, sorted by user and id. Throws ``CommandFailure`` for a damaged file, and `VaultError`.
    func all() throws -> [SoftwarePasskey] {
        let passkeys = try files.names(beginning: Self.prefix, ending: Self.suffix).compactMap { name -> SoftwarePasskey? in
            guard let data = try files.read(name, isSecret: true)?.data else { return nil }
            // The file name must contain the id of the passkey, because `remove` derives the file name from the id.
            guard let passkey = try? SoftwarePasskey(JSONValue(parsing: Array(data))), name == Self.name(passkey) else {
                // The parser's error may quote the private key.
                throw CommandFailure("\(folder.appending(path: name).path()) is not a passkey of this command. Remove the file.")
            }
            return passkey
        }
        return passkeys.sorted { ($0.userName, $0.id) < ($1.userName, $1.id) }
    }

    /// Returns the only passkey whose id equals or begins with `id`. Throws ``CommandFailure`` if there is none or more than one.
    func passkey(_ id: String) throws -> SoftwarePasskey {
        let found = try all().filter { $0.id.hasPrefix(id) }
        guard found.count < 2 else { throw CommandFailure("More than one passkey begins with \(id). Use a longer part of the id.") }
        guard let passkey = found.first else {
            throw CommandFailure("There is no passkey \(id). `countersign passkey list --json` shows all ids.")
        }
        return passkey
    }

    /// Returns the user's passkeys for an RP ID that the server at `origin` registered; of all users if `username` is `nil`. Passkeys that
    /// another server of the same domain registered are left out, because the server at `origin` could forward a challenge of that server.
    /// Throws ``CommandFailure`` if the server may not use the RP ID, and the errors of ``all()``.
    func passkeys(of username: String?, for relyingPartyID: String?, at origin: PasskeyOrigin) throws -> [SoftwarePasskey] {
        let id = relyingPartyID ?? origin.defaultID
        guard origin.canUse(id) else {
            throw CommandFailure(
                "\(origin.text) requests a passkey for \(id), which is neither its host nor a parent domain of it. Check the issuer, or rp_id in the org file."
            )
        }
        return try all().filter {
            $0.relyingPartyID == id && $0.origin == origin.text && (username == nil || $0.userName.lowercased() == username?.lowercased())
        }
    }

    func add(_ passkey: SoftwarePasskey) throws {
        try files.create()
        try files.write(Data(passkey.secretJSON.serialized()), to: Self.name(passkey))
    }

    func remove(_ passkey: SoftwarePasskey) throws { try files.remove(Self.name(passkey)) }

    /// Returns the file name of a passkey. The id is base64url, so it is valid in a file name.
    private static func name(_ passkey: SoftwarePasskey) -> String { prefix + passkey.id + suffix }
}
