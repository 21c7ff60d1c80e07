package import Foundation
package import Store

/// A device on which a person proved a second factor, and that stands in for it since (authn reference 6.4).
///
/// It is known by the digest of a token that it brings. A new password, or a deactivation, forgets it.
package struct RememberedDevice: Sendable, Equatable, Codable {
    /// Seconds after which a device is forgotten, whatever the policy says.
    static let longest: TimeInterval = 365 * 86_400
    /// The most that are remembered of a person; the one that was longest unused makes room.
    package static let most = 20
    /// The fewest bytes of a token that is believed: shorter ones could be guessed.
    package static let shortestToken = 16

    package var id: String
    var userID: String
    /// The digest of its token.
    package var device: [UInt8]
    /// The account as it was.
    package var account: Grant.AccountState
    var createdAt: Date
    /// When the second factor was last proved on it.
    package var provedAt: Date
    /// The version of the record that it was read from; 0 before it is stored.
    package var version: Int64 = 0

    package init(
        id: String, userID: String, device: [UInt8], account: Grant.AccountState, createdAt: Date, provedAt: Date, version: Int64 = 0
    ) {
        self.id = id
        self.userID = userID
        self.device = device
        self.account = account
        self.createdAt = createdAt
        self.provedAt = provedAt
        self.version = version
    }

    private enum CodingKeys: String, CodingKey { case id, userID, device, account, createdAt, provedAt }

    /// Whether it stands in for the second factor of this account at a moment.
    func counts(for user: User, under policy: ClassicPolicy, at now: Date) -> Bool {
        guard account.hasPassword(of: user), provedAt <= now else { return false }
        return switch policy.remembering {
        case .never: false
        case .device: now < provedAt.addingTimeInterval(Self.longest)
        case .time(let minutes): now < provedAt.addingTimeInterval(Double(minutes) * 60)
        }
    }

    /// What finds it.
    static func key(userID: String, device: [UInt8]) -> String {
        userID + " " + device.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    /// The record to store.
    package func record() throws -> Record {
        Record(
            kind: .rememberedDevice, id: id, version: version, uniqueKeys: ["device": Self.key(userID: userID, device: device)],
            indexedKeys: ["user": userID], expiresAt: provedAt.addingTimeInterval(Self.longest), payload: try RecordCoding.encode(self))
    }
}

extension RememberedDevice {
    /// Reads a record.
    /// - Throws: ``StoreError`` if it is no device.
    package init(_ record: Record) throws {
        self = try RecordCoding.decode(RememberedDevice.self, from: record)
        version = record.version
    }
}

extension StoreView {
    /// The device of a person that brings a token with this digest; nil if it is not remembered.
    func rememberedDevice(of userID: String, device: [UInt8]) throws -> RememberedDevice? {
        try records(.rememberedDevice, where: "device", is: RememberedDevice.key(userID: userID, device: device), limit: 1).first
            .map(RememberedDevice.init)
    }
}

/// What people and consoles see of a remembered device.
package struct RememberedDeviceSummary: Sendable, Equatable {
    /// Its id.
    package let id: String
    /// When it was first remembered.
    package let createdAt: Date
    /// When the second factor was last proved on it.
    package let provedAt: Date
}

extension Engine {
    /// The devices that stand in for a person's second factor, or did until the policy changed.
    ///
    /// - Parameter userID: The person.
    /// - Returns: Those that are remembered, by their ids.
    /// - Throws: ``StoreError`` if the store failed.
    package func rememberedDevices(ofUser userID: String) async throws -> [RememberedDeviceSummary] {
        try await store.read { view in
            try view.records(.rememberedDevice, where: "user", is: userID, limit: RememberedDevice.most).map(RememberedDevice.init)
                .map { RememberedDeviceSummary(id: $0.id, createdAt: $0.createdAt, provedAt: $0.provedAt) }
        }
    }

    /// Removes remembered devices. The user must prove the second factor on them again.
    ///
    /// - Parameters:
    ///   - userID: The user.
    ///   - id: The device; `nil` for all of the user.
    ///   - context: The request.
    /// - Returns: The number of forgotten devices.
    /// - Throws: ``StoreError`` if the store failed.
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
