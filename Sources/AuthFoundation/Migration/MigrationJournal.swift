import Foundation

/// A note about the migration of a stored session. It contains names and hashes, but no secret.
struct MigrationNote: Codable, Sendable {
    /// The version of the original that the note is about; `nil` for every version.
    var version: String?
    /// The hash of the original's data.
    var content: String
    /// The credential that contains the session; `nil` if the session was skipped, other than as a duplicate.
    var credentialID: String?
    /// The hash of the access token at the time of the import, by which a later run sees that the session was refreshed.
    var accessToken: String?
    /// The reason why the session was skipped; `nil` for an imported session.
    var reason: Reason?
    /// The hash of the settings with which the session was skipped.
    var settings: String?
    /// The device of the run; `nil` if the journal does not know it. A backup takes the note to other devices.
    var device: String?

    struct Reason: Codable {
        let code: String
        let message: String
    }

    /// A note of an unknown form. Its session is treated as imported, because a run must not import a session again after a sign-out.
    static let unknown = MigrationNote(version: nil, content: "")

    func isAbout(_ found: FoundSession) -> Bool { version == nil || version == found.version }

    var skipReason: Migration.SkipReason? {
        reason.map { Migration.SkipReason(Migration.SkipReason.Code(rawValue: $0.code), $0.message) }
    }
}

/// The notes of earlier runs, by the place of the session. They survive the removal of a credential.
protocol MigrationJournal {
    func notes() throws -> [String: MigrationNote]
    /// Writes a note. A note that another device wrote stays a note of that device.
    func write(_ note: MigrationNote, for place: String) throws
    /// Whether this device wrote the note, so that a missing credential was removed on this device. `false` if this is unknown.
    func isOfThisDevice(_ note: MigrationNote) throws -> Bool
}

extension MigrationJournal {
    /// The key of a place, which contains no names.
    func key(of place: String) -> String { MigrationHash.text(place) }

    func note(of place: String, in notes: [String: MigrationNote]) -> MigrationNote? { notes[key(of: place)] }
}

/// Notes as Keychain items, for sessions that are stored in the Keychain.
struct KeychainJournal: MigrationJournal {
    static let service = "com.countersign.migration"

    /// The account of the item that identifies the device and never leaves it.
    private static let device = "device"

    let keychain: any KeychainAccess
    var randomness = Randomness.system

    func notes() throws -> [String: MigrationNote] {
        let items = try keychain.items(KeychainQuery(service: Self.service)).filter { $0.account != Self.device }.map { item in
            (item.account, item.generic.flatMap { try? JSONDecoder().decode(MigrationNote.self, from: $0) } ?? .unknown)
        }
        return Dictionary(items) { first, _ in first }
    }

    func write(_ note: MigrationNote, for place: String) throws {
        var note = note
        note.device = try note.device ?? deviceMakingOne()
        // A backup contains the item, because it also contains originals that another device restores.
        try keychain.save(
            KeychainRecord(
                service: Self.service, account: key(of: place), protection: KeychainProtection(.afterFirstUnlock),
                generic: try JSONEncoder().encode(note), value: Data()))
    }

    func isOfThisDevice(_ note: MigrationNote) throws -> Bool { try note.device != nil && note.device == device() }

    private func device() throws -> String? {
        let item = try keychain.items(KeychainQuery(service: Self.service, account: Self.device)).first
        return item?.generic.map { String(decoding: $0, as: UTF8.self) }
    }

    private func deviceMakingOne() throws -> String {
        if let known = try device() { return known }
        let new = randomness.identifier
        try keychain.save(
            KeychainRecord(
                service: Self.service, account: Self.device, protection: KeychainProtection(.afterFirstUnlockThisDeviceOnly),
                generic: Data(new.utf8), value: Data()))
        return new
    }
}

/// Notes in the user defaults, for sessions that are stored elsewhere.
struct DefaultsJournal: MigrationJournal {
    private static let name = "com.countersign.migration"

    let suite: String?

    func notes() throws -> [String: MigrationNote] {
        stored.mapValues { (try? JSONDecoder().decode(MigrationNote.self, from: $0)) ?? .unknown }
    }

    func write(_ note: MigrationNote, for place: String) throws {
        var notes = stored
        notes[key(of: place)] = try JSONEncoder().encode(note)
        try DefaultsFailure.check(suite) { $0.set(notes, forKey: Self.name) }
    }

    /// On Apple's systems, a backup contains the defaults, and whether it contains the tokens depends on the storage of the app.
    func isOfThisDevice(_ note: MigrationNote) -> Bool {
        #if canImport(Darwin)
        false
        #else
        true
        #endif
    }

    private var stored: [String: Data] { UserDefaults(suiteName: suite)?.dictionary(forKey: Self.name) as? [String: Data] ?? [:] }
}

/// Reports that the user defaults could not be written.
struct DefaultsFailure: Error, ClientError, LocalizedError {
    var errorDescription: String? { userText.description.text }
    var recoverySuggestion: String? { userText.suggestion?.text }
    var userText: ErrorText { .notSaved }
    var debugDescription: String { "The user defaults can't be written. Check that the program may write to its preferences." }

    /// Changes the defaults of a suite and writes them, because on Linux a process that ends writes nothing by itself.
    static func check(_ suite: String?, _ change: (UserDefaults) -> Void) throws {
        guard let defaults = UserDefaults(suiteName: suite) else { throw DefaultsFailure() }
        change(defaults)
        guard defaults.synchronize() else { throw DefaultsFailure() }
    }
}
