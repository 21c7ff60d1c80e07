public import Foundation

/// A device on which a person proved a second factor, and that stands in for it since (authn reference 6.4).
///
/// It is known by the digest of a token that it brings. A new password, or a deactivation, forgets it.
struct RememberedDevice: Sendable, Equatable, Codable {
    /// Seconds after which a device is forgotten, whatever the policy says.
    static let longest: TimeInterval = 365 * 86_400
    /// The most that are remembered of a person; the one that was longest unused makes room.
    static let most = 20
    /// The fewest bytes of a token that is believed: shorter ones could be guessed.
    static let shortestToken = 16

    var id: String
    var userID: String
    /// The digest of its token.
    var device: [UInt8]
    /// The account as it was.
    var account: Grant.AccountState
    var createdAt: Date
    /// When the second factor was last proved on it.
    var provedAt: Date
    /// The version of the record that it was read from; 0 before it is stored.
    var version: Int64 = 0

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
    func record() throws -> Record {
        Record(
            kind: .rememberedDevice, id: id, version: version, uniqueKeys: ["device": Self.key(userID: userID, device: device)],
            indexedKeys: ["user": userID], expiresAt: provedAt.addingTimeInterval(Self.longest), payload: try RecordCoding.encode(self))
    }
}

extension RememberedDevice {
    /// Reads a record.
    /// - Throws: ``StoreError`` if it is no device.
    init(_ record: Record) throws {
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
public struct RememberedDeviceSummary: Sendable, Equatable {
    /// Its id.
    public let id: String
    /// When it was first remembered.
    public let createdAt: Date
    /// When the second factor was last proved on it.
    public let provedAt: Date
}

extension IdentityEngine {
    /// The devices that stand in for a person's second factor, or did until the policy changed.
    ///
    /// - Parameter userID: The person.
    /// - Returns: Those that are remembered, by their ids.
    /// - Throws: ``StoreError`` if the store failed.
    public func rememberedDevices(ofUser userID: String) async throws -> [RememberedDeviceSummary] {
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
    public func forgetRememberedDevices(ofUser userID: String, id: String? = nil, context: RequestContext) async throws -> Int {
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

extension ClassicState {
    /// Remembers the device of the sign-in once a second factor was proved on it.
    ///
    /// - Returns: The writes, and the new token of the device; `nil` if the device keeps its token.
    func remember(_ transaction: SignInTransaction) throws -> (Writes, token: String?) {
        guard policy.remembering != .never, let account = transaction.account else { return (Writes(), nil) }
        var writes = Writes()
        var token: String?
        // An attacker may have planted the token that a browser brings: the browser gets a new one.
        let brought = classic.renewsDevice == true ? nil : classic.device
        var device =
            try remembered
            ?? RememberedDevice(
                id: environment.random.identifier(prefix: "rdv"), userID: user.value.id, device: brought ?? [], account: account,
                createdAt: context.now, provedAt: context.now)
        if device.device.isEmpty {
            let made = try String((environment.random.identifier(prefix: "") + environment.random.identifier(prefix: "")).prefix(32))
            device.device = TicketDigest(of: made).bytes
            token = made
        }
        device.account = account
        device.provedAt = context.now
        if remembered == nil {
            let crowded = allRemembered.sorted { $0.provedAt > $1.provedAt }.dropFirst(RememberedDevice.most - 1)
            writes += crowded.map { .remove(.rememberedDevice, id: $0.id, version: $0.version) }
            writes.log("user.device.remember", .success, userID: user.value.id)
        }
        return (writes + [.put(try device.record())], token)
    }
}
