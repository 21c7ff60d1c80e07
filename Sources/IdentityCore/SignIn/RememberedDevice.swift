package import Foundation
package import Store

/// A device on which the user proved a second factor, and which replaces that factor in later sign-ins (Documentation/Protocol/Authn.md
/// §6.4). The digest of the device's token identifies the device. After a new password or a deactivation, the device counts no more.
package struct RememberedDevice: Sendable, Equatable, Codable {
    /// The maximum time in seconds since the last proof, regardless of the policy.
    static let longest: TimeInterval = 365 * 86_400
    /// The maximum number of devices per user. A new device replaces the one with the oldest proof.
    package static let most = 20
    /// The maximum number that a request reads. Concurrent sign-ins can exceed ``most`` for a short time.
    package static let listLimit = 2 * most
    /// The minimum length of a token in bytes, because shorter tokens could be guessed.
    package static let shortestToken = 16

    package var id: String
    var userID: String
    /// The digest of the device's token.
    package var device: [UInt8]
    /// Snapshot of the account at the last proof, to detect later changes.
    package var account: Grant.AccountState
    var createdAt: Date
    /// The time when the user last proved a second factor on the device.
    package var provedAt: Date
    /// The version of the stored record; 0 before it is stored.
    package var version: Int64 = 0

    package init(
        id: String, userID: String, device: [UInt8], account: Grant.AccountState, createdAt: Date, provedAt: Date, version: Int64 = 0
    ) {
        (self.id, self.userID, self.device, self.account, self.createdAt) = (id, userID, device, account, createdAt)
        (self.provedAt, self.version) = (provedAt, version)
    }

    private enum CodingKeys: String, CodingKey { case id, userID, device, account, createdAt, provedAt }

    /// Whether the device replaces the second factor of this account.
    func counts(for user: User, under policy: ClassicPolicy, at now: Date) -> Bool {
        guard account.hasPassword(of: user), provedAt <= now else { return false }
        return switch policy.remembering {
        case .never: false
        case .device: now < provedAt.addingTimeInterval(Self.longest)
        case .time(let minutes): now < provedAt.addingTimeInterval(Double(minutes) * 60)
        }
    }

    /// Returns the unique key of a device's record.
    static func key(userID: String, device: [UInt8]) -> String {
        userID + " " + device.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    package func record() throws -> Record {
        Record(
            kind: .rememberedDevice, id: id, version: version, uniqueKeys: ["device": Self.key(userID: userID, device: device)],
            indexedKeys: ["user": userID], expiresAt: provedAt.addingTimeInterval(Self.longest), payload: try RecordCoding.encode(self))
    }
}

extension RememberedDevice {
    package init(_ record: Record) throws {
        self = try RecordCoding.decode(RememberedDevice.self, from: record)
        version = record.version
    }
}

extension StoreView {
    /// Returns the user's device with this token digest; `nil` if it is not remembered. Does the same work for every user, so it may
    /// precede a proof.
    func rememberedDevice(of userID: String, device: [UInt8]) throws -> RememberedDevice? {
        try records(.rememberedDevice, where: "device", is: RememberedDevice.key(userID: userID, device: device), limit: 1).first
            .map(RememberedDevice.init)
    }

    /// Returns all remembered devices of an identified user.
    package func rememberedDevices(of userID: String) throws -> [RememberedDevice] {
        try records(.rememberedDevice, where: "user", is: userID, limit: RememberedDevice.listLimit).map(RememberedDevice.init)
    }
}

/// A remembered device as shown to users and administrators.
package struct RememberedDeviceSummary: Sendable, Equatable {
    package let id: String
    package let createdAt: Date
    /// The time when the user last proved a second factor on the device.
    package let provedAt: Date
}

extension Engine {
    /// Returns the user's remembered devices, including those that the policy no longer accepts.
    package func rememberedDevices(ofUser userID: String) async throws -> [RememberedDeviceSummary] {
        try await store.read { view in
            try view.records(.rememberedDevice, where: "user", is: userID, limit: RememberedDevice.most).map(RememberedDevice.init)
                .map { RememberedDeviceSummary(id: $0.id, createdAt: $0.createdAt, provedAt: $0.provedAt) }
        }
    }

    /// Removes the user's remembered devices, or only the device with this id. Returns the number of removed devices.
    package func forgetRememberedDevices(ofUser userID: String, id: String? = nil, context: RequestContext) async throws -> Int {
        try await transact(context) { reading in
            try reading.view.records(.rememberedDevice, where: "user", is: userID, limit: RememberedDevice.most)
                .map(RememberedDevice.init).filter { id ?? $0.id == $0.id }
        } decide: { found in
            guard !found.isEmpty else { return Plan(0) }
            var writes = Writes(found.map { .remove(.rememberedDevice, id: $0.id, version: $0.version) })
            writes.log("user.device.forget", .success, reason: "\(found.count) device(s)", userID: userID)
            return Plan(found.count, writes)
        }
    }
}
