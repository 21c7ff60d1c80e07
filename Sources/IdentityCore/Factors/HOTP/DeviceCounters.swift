internal import Foundation
internal import Store

/// The current counter of each HOTP seed, regardless of the device's owner and name, so that consumed codes stay consumed. The enrollment
/// of a device stores its counter; a record keeps the counter of a removed device. One value of this type serves all changes that are
/// planned from one read, so that the counter of a seed that two users have is written once.
struct DeviceCounters {
    private struct Spent: Codable { var counter: Int64 }

    private let view: any StoreView
    private let environment: EngineEnvironment
    private let derivedKeys: DerivedKeys
    /// The counters of removed devices, by the name of the seed.
    private var taken: [String: Int64] = [:]
    /// The ids of the removed enrollments.
    private var takenIDs: Set<String> = []

    init(_ view: any StoreView, environment: EngineEnvironment, derivedKeys: DerivedKeys) {
        self.view = view
        self.environment = environment
        self.derivedKeys = derivedKeys
    }

    /// Returns the initial counter of a device: the maximum of the requested counter and the highest known counter of the device's seed.
    /// Call it after all calls of ``take(_:)``: only these calls find the seed of an older record, which has no seed name.
    func start(_ wanted: Int64, ofSeed secret: [UInt8]) throws -> Int64 {
        let name = derivedKeys.name(ofSeed: secret)
        let held = try view.records(.enrollment, where: "seed", is: name, limit: 100).map(Enrollment.init).compactMap(\.hotp?.counter)
        return ([wanted, try stored(name)?.counter, taken[name]].compactMap(\.self) + held).max() ?? wanted
    }

    /// Returns other users' devices with this seed, for removal: a device belongs to one user.
    func devices(ofSeed secret: [UInt8], notOf userID: String) throws -> [Enrollment] {
        try view.records(.enrollment, where: "seed", is: derivedKeys.name(ofSeed: secret), limit: 100)
            .map(Enrollment.init).filter { $0.userID != userID }
    }

    /// Returns the change that removes a device; no change if the device was removed already. ``changes()`` writes the counter of the
    /// device's seed.
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
            hotp.sealedSecret, for: RecordReference(.enrollment, device.id), masterKeys: environment.masterKeys)
        return derivedKeys.name(ofSeed: secret)
    }
}
