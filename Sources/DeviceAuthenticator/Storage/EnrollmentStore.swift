internal import AuthFoundation
internal import Dispatch
internal import Foundation
internal import JOSE

/// The enrollments of one folder, with their device records, policies and challenge keys. Each call reads the files, so that changes by
/// other processes are visible. Safe from any thread.
final class EnrollmentStore: Sendable {
    private let folder: EntryFolder
    private let keys: any DeviceKeyStore
    /// The queue for the file work of asynchronous calls, which must not block a cooperative thread.
    private let queue = DispatchQueue(label: "countersign.device-authenticator.store", attributes: .concurrent)

    init(folder: EntryFolder, keys: any DeviceKeyStore) {
        self.folder = folder
        self.keys = keys
    }

    /// Runs file or key work of an asynchronous call.
    func run<Result: Sendable>(_ work: @escaping @Sendable (EnrollmentStore) throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { [self] in continuation.resume(with: Swift.Result { try work(self) }) }
        }
    }

    /// Returns the readable enrollments, oldest first, and an error for each unreadable enrollment.
    func enrollments() throws -> (records: [EnrollmentRecord], failures: [StorageError]) {
        let (records, failures) = try folder.all(EnrollmentRecord.self, .enrollment)
        return (records.sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }, failures)
    }

    func enrollment(_ id: String) throws -> EnrollmentRecord? { try folder.read(EnrollmentRecord.self, .enrollment, id) }

    /// Stores a new enrollment with its device and policy. It replaces an older enrollment of the same user, client and org. Returns the
    /// errors of removing replaced data; throws if the enrollment was not stored.
    func insert(_ record: EnrollmentRecord, device: DeviceRecord, policy: PolicyRecord) throws -> [any Error] {
        var failures: [any Error] = []
        func attempt(_ removal: () throws -> Void) -> Bool {
            do { try removal() } catch {
                failures.append(error)
                return false
            }
            return true
        }
        let tags = try folder.change { writer -> [String] in
            let replaced = try enrollments().records.filter {
                $0.id == record.id
                    || ($0.organizationID, $0.clientID, $0.userID) == (record.organizationID, record.clientID, record.userID)
            }
            // Servers choose the ids: a server must not replace an enrollment of another server.
            guard replaced.allSatisfy({ $0.organizationURL == record.organizationURL }) else {
                throw StorageError.generalStorageError(
                    "The server's enrollment \(record.id) has the id of another organization's enrollment. It was not stored.")
            }
            let oldDevice = try self.device(of: record.organizationID)
            try writer.write(policy, .policy, PolicyRecord.id(organizationID: policy.organizationID, clientID: policy.clientID))
            if oldDevice != device { try writer.write(device, .device, device.organizationID) }
            // The last write that can fail. After an error in it, the enrollment is not stored.
            try writer.write(record, .enrollment, record.id)
            // An enrollment that could not be removed keeps its keys.
            let removed = replaced.filter { old in old.id == record.id || attempt { try writer.remove(.enrollment, old.id) } }
            let instance = oldDevice.map { [$0.clientInstanceKeyTag] } ?? []
            return (removed.flatMap(\.keyTags) + instance).filter { !(record.keyTags + [device.clientInstanceKeyTag]).contains($0) }
        }
        // Keys are deleted after the entries that use them. If the process is killed in between, unused keys remain, but never an entry
        // without its key.
        for tag in tags { _ = attempt { try keys.deleteKey(tag: tag) } }
        return failures
    }

    /// Removes the enrollments that can never be read again, because their key stayed on another device. Returns whether there were any.
    func removeLost() throws -> Bool { try folder.removeLost([.enrollment, .device, .policy, .challengeKeys]) }

    /// Returns the tags that no stored entry uses. Throws if an entry cannot be read.
    func unnamed(among tags: [String]) throws -> [String] {
        let (records, unreadable) = try enrollments()
        let (devices, others) = try folder.all(DeviceRecord.self, .device)
        if let failure = (unreadable + others).first { throw failure }
        let named = Set(records.flatMap(\.keyTags) + devices.map(\.clientInstanceKeyTag))
        return tags.filter { !named.contains($0) }
    }

    /// Changes a stored enrollment. Returns the changed enrollment; `nil` if the enrollment is no longer stored.
    @discardableResult
    func update(_ id: String, _ change: (inout EnrollmentRecord) -> Void) throws -> EnrollmentRecord? {
        try folder.change { writer in
            guard var record = try enrollment(id) else { return nil }
            let before = record
            change(&record)
            if record != before { try writer.write(record, .enrollment, id) }
            return record
        }
    }

    /// Removes an enrollment and its keys. With the last enrollment of an org, also removes the org's data. Throws if the enrollment was
    /// not removed. If keys cannot be deleted, throws the first error after it has tried to delete all keys.
    func remove(_ id: String) throws {
        let tags = try folder.change { writer -> [String] in
            let all = try enrollments()
            // The entry may be unreadable; its keys are then unknown, and nothing else is deleted.
            let record = all.records.first { $0.id == id }
            try writer.remove(.enrollment, id)
            guard let record else { return [] }
            var tags = record.keyTags
            let others = all.records.filter { $0.id != id && $0.organizationID == record.organizationID }
            if others.isEmpty, all.failures.isEmpty {
                if let device = try device(of: record.organizationID) { tags.append(device.clientInstanceKeyTag) }
                try writer.remove(.device, record.organizationID)
                try writer.remove(.challengeKeys, record.organizationID)
            }
            if !others.contains(where: { $0.clientID == record.clientID }) {
                try writer.remove(.policy, PolicyRecord.id(organizationID: record.organizationID, clientID: record.clientID))
            }
            return tags
        }
        // No entry refers to these keys anymore, so this is the only attempt to delete them.
        var failure: (any Error)?
        for tag in tags {
            do { try keys.deleteKey(tag: tag) } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }

    func device(of organizationID: String) throws -> DeviceRecord? { try folder.read(DeviceRecord.self, .device, organizationID) }

    func policy(of organizationID: String, clientID: String) throws -> PolicyRecord? {
        try folder.read(PolicyRecord.self, .policy, PolicyRecord.id(organizationID: organizationID, clientID: clientID))
    }

    func challengeKeys(of organizationID: String) throws -> ChallengeKeyRecord? {
        try folder.read(ChallengeKeyRecord.self, .challengeKeys, organizationID)
    }

    func updateChallengeKeys(of organizationID: String, _ change: (inout ChallengeKeyRecord) -> Void) throws {
        try folder.change { writer in
            // An unreadable copy is replaced, because the server publishes the keys.
            var record = (try? challengeKeys(of: organizationID)) ?? ChallengeKeyRecord(organizationID: organizationID)
            change(&record)
            try writer.write(record, .challengeKeys, organizationID)
        }
    }
}

/// The stored data of an enrollment. It never contains the push token, access tokens or challenges.
struct EnrollmentRecord: Codable, Sendable, Equatable {
    let id: String
    let organizationID: String
    /// The org's normalized URL; see ``OrganizationURL``.
    let organizationURL: URL
    let clientID: String
    let authenticatorID: String
    let userID: String
    var userName: String?
    /// The device's id at the time of the enrollment. A later enrollment may have created a new device.
    let deviceID: String
    let clientInstanceID: String
    var methodID: String
    var pendingLink: URL?
    let possessionKeyTag: String
    var verificationKeyTag: String?
    /// The raw value of the ``SecAccessControlCreateFlags`` of the user verification key; `nil` without this key.
    var verificationFlags: UInt?
    var transactionTypes: Int
    /// The server's error code for the last change; `nil` without a change or after an accepted change.
    var serverErrorCode: String?
    let createdAt: Date
    var updatedAt: Date

    var keyTags: [String] { [possessionKeyTag, verificationKeyTag].compactMap { $0 } }
}

/// The org's ids for this installation.
struct DeviceRecord: Codable, Sendable, Equatable {
    let organizationID: String
    let deviceID: String
    let clientInstanceID: String
    let clientInstanceKeyTag: String
}

/// The policy of an authenticator, by org and client.
struct PolicyRecord: Codable, Sendable, Equatable {
    let organizationID: String
    let clientID: String
    let authenticatorID: String
    let userVerification: UserVerificationPolicySetting
    let methods: [String]

    static func id(organizationID: String, clientID: String) -> String { "\(organizationID)|\(clientID)" }
}

/// The keys with which an org signs challenges, by issuer.
struct ChallengeKeyRecord: Codable, Sendable, Equatable {
    struct KeySet: Codable, Sendable, Equatable {
        let fetchedAt: Date
        let keys: [JSONValue]
    }

    let organizationID: String
    var issuers: [String: KeySet] = [:]
}
