internal import Crypto
internal import Foundation
internal import JOSE
internal import Store

/// The current counter of each HOTP seed, regardless of the device's owner and name, so that consumed codes stay consumed. An enrolled
/// device stores its counter; a record keeps that of a removed one. It belongs to one read and everything that is planned with it, so that
/// a seed of two users is written once.
struct DeviceCounters {
    private struct Spent: Codable { var counter: Int64 }

    private let view: any StoreView
    private let environment: EngineEnvironment
    /// The counters of removed devices, by the name of the seed.
    private var taken: [String: Int64] = [:]
    /// The removed enrolments.
    private var takenIDs: Set<String> = []

    init(_ view: any StoreView, environment: EngineEnvironment) {
        self.view = view
        self.environment = environment
    }

    /// Returns the name of a seed: a keyed hash, which is useless without the master key.
    static func name(ofSeed secret: [UInt8], environment: EngineEnvironment) -> String {
        let key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: environment.masterKey, info: Data("countersign device seeds".utf8), outputByteCount: 32)
        return Base64URL.encode(Array(HMAC<SHA256>.authenticationCode(for: secret, using: key)))
    }

    /// Returns the initial counter of a device: the requested one, or the highest known one of the same seed if that is larger. Call it
    /// after all removals, because older records without a seed name are known only from these.
    func start(_ wanted: Int64, ofSeed secret: [UInt8]) throws -> Int64 {
        let name = Self.name(ofSeed: secret, environment: environment)
        let held = try view.records(.enrollment, where: "seed", is: name, limit: 100).map(Enrollment.init).compactMap(\.hotp?.counter)
        return ([wanted, try stored(name)?.counter, taken[name]].compactMap(\.self) + held).max() ?? wanted
    }

    /// Returns other users' devices with this seed, for removal: a device belongs to one user.
    func devices(ofSeed secret: [UInt8], notOf userID: String) throws -> [Enrollment] {
        try view.records(.enrollment, where: "seed", is: Self.name(ofSeed: secret, environment: environment), limit: 100)
            .map(Enrollment.init).filter { $0.userID != userID }
    }

    /// Returns the change that removes a device; none if it was removed already. ``changes()`` writes the counter of its seed.
    mutating func take(_ device: Enrollment) throws -> [Change] {
        guard takenIDs.insert(device.id).inserted else { return [] }
        if let name = try name(of: device), let hotp = device.hotp { taken[name] = max(taken[name] ?? 0, hotp.counter) }
        return [device.removal]
    }

    /// Returns the changes that store the counters of removed devices.
    func changes() throws -> [Change] {
        try taken.sorted { $0.key < $1.key }.compactMap { name, counter in
            let known = try stored(name)
            guard counter > known?.counter ?? 0 else { return nil }
            let payload = try RecordCoding.encode(Spent(counter: counter))
            return .put(Record(kind: .hardwareCounter, id: name, version: known?.version ?? 0, payload: payload))
        }
    }

    private func stored(_ name: String) throws -> (counter: Int64, version: Int64)? {
        try view.record(.hardwareCounter, id: name).map { (try RecordCoding.decode(Spent.self, from: $0).counter, $0.version) }
    }

    private func name(of device: Enrollment) throws -> String? {
        guard let hotp = device.hotp else { return nil }
        if let seed = hotp.seed { return seed }
        let secret = try RecordCoding.open(
            hotp.sealedSecret, for: RecordReference(.enrollment, device.id), masterKey: environment.masterKey)
        return Self.name(ofSeed: secret, environment: environment)
    }
}
