import AuthFoundation
import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The items of a ``KeychainDouble`` in a file that several processes share. As in the Keychain, each operation is atomic: a process that
/// is killed leaves the items of before or after the operation.
struct KeychainFile: Sendable {
    private struct Content: Codable {
        var items: [StoredItem] = []
        var changes = 0
    }

    /// An item without a `SecAccessControl`, which has no form outside of Apple's systems.
    private struct StoredItem: Codable {
        let service: String
        let account: String
        let group: String
        let accessibility: String
        let accessControl: UInt?
        let isSynchronizable: Bool
        let generic: Data?
        let value: Data?
        let modifiedAt: Date?

        init(_ item: KeychainDouble.Item) {
            let record = item.record
            (service, account, group) = (record.service, record.account, item.group)
            accessibility = record.protection.accessibility.rawValue
            if case .flags(let flags) = record.protection.accessControl { accessControl = flags } else { accessControl = nil }
            isSynchronizable = record.isSynchronizable
            (generic, value, modifiedAt) = (record.generic, record.value, record.modifiedAt)
        }

        var item: KeychainDouble.Item {
            let protection = KeychainProtection(
                Keychain.Accessibility(rawValue: accessibility) ?? .unlocked, accessControl: accessControl.map { .flags($0) })
            var record = KeychainRecord(service: service, account: account, protection: protection, generic: generic, value: value)
            (record.isSynchronizable, record.modifiedAt) = (isSynchronizable, modifiedAt)
            return KeychainDouble.Item(record: record, group: group)
        }
    }

    let url: URL

    /// Runs a function on the items and the number of changes, while other processes wait. Writes the file if the number has changed.
    func change<Result>(_ body: (inout [KeychainDouble.Item], inout Int) -> Result) -> Result {
        // The lock is another file, because each change replaces this one. The system releases the lock when the process ends.
        let lock = open(url.path + ".lock", O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        precondition(lock >= 0, "The lock of \(url.path) cannot be opened.")
        defer { close(lock) }
        while flock(lock, LOCK_EX) != 0 && errno == EINTR {}
        do {
            var content = Content()
            if let data = FileManager.default.contents(atPath: url.path) { content = try JSONDecoder().decode(Content.self, from: data) }
            var (items, changes) = (content.items.map(\.item), content.changes)
            let result = body(&items, &changes)
            if changes != content.changes {
                try JSONEncoder().encode(Content(items: items.map(StoredItem.init), changes: changes)).write(to: url, options: .atomic)
            }
            return result
        } catch {
            preconditionFailure("\(url.path) cannot be read or written: \(error)")
        }
    }
}
