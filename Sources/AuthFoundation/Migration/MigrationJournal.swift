import Foundation

/// A note of what a migration did with a stored session. It contains names and hashes, no secret.
struct MigrationNote: Codable, Sendable {
    /// The version of the original that the note is about; `nil` for every version.
    var version: String?
    /// The hash of the original's data.
    var content: String
    /// The credential that contains the session; `nil` if the session was skipped, other than as a duplicate.
    var credentialID: String?
    /// The hash of the access token at the time of the import, by which a later run sees that the session was refreshed.
    var accessToken: String?
    /// The reason for which the session was skipped; `nil` for an imported session.
    var reason: Reason?
    /// The hash of the settings with which the session was skipped.
    var settings: String?

    struct Reason: Codable {
        let code: String
        let message: String
    }

    /// A note of an unknown form. Its session counts as imported, because a session must not come back after a sign-out.
    static let unknown = MigrationNote(version: nil, content: "")

    func isAbout(_ found: FoundSession) -> Bool { version == nil || version == found.version }

    var skipReason: Migration.SkipReason? {
        reason.map { Migration.SkipReason(Migration.SkipReason.Code(rawValue: $0.code), $0.message) }
    }
}

/// The notes of earlier runs, by the place of the session. They survive the removal of a credential.
protocol MigrationJournal {
    func notes() throws -> [String: MigrationNote]
    func write(_ note: MigrationNote, for place: String) throws
}

extension MigrationJournal {
    /// The key of a place, which contains no names.
    func key(of place: String) -> String { MigrationHash.text(place) }

    func note(of place: String, in notes: [String: MigrationNote]) -> MigrationNote? { notes[key(of: place)] }
}

/// Notes as Keychain items, for sessions that are stored in the Keychain.
struct KeychainJournal: MigrationJournal {
    static let service = "com.countersign.migration"

    let keychain: any KeychainAccess

    func notes() throws -> [String: MigrationNote] {
        let items = try keychain.items(KeychainQuery(service: Self.service)).map { item in
            (item.account, item.generic.flatMap { try? JSONDecoder().decode(MigrationNote.self, from: $0) } ?? .unknown)
        }
        return Dictionary(items) { first, _ in first }
    }

    func write(_ note: MigrationNote, for place: String) throws {
        // A backup contains the item, because it also contains originals that another device restores.
        try keychain.save(
            KeychainRecord(
                service: Self.service, account: key(of: place), protection: KeychainProtection(.afterFirstUnlock),
                generic: try JSONEncoder().encode(note), value: Data()))
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
