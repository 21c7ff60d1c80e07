internal import Crypto
internal import Foundation
internal import JOSE
internal import Store

/// How far each seed of a device with a counter has come, whoever has the device and whatever it is called: what was used stays used.
///
/// A device that somebody has knows by itself; of one that was taken away a record remembers it. Made for one reading of the store, and
/// for all that is planned by it, so that a seed that two people have is written once.
struct DeviceCounters {
    private struct Spent: Codable { var counter: Int64 }

    private let view: any StoreView
    private let environment: EngineEnvironment
    /// By the seed's name, as devices are taken away.
    private var taken: [String: Int64] = [:]
    /// The enrolments that were taken away.
    private var takenIDs: Set<String> = []

    init(_ view: any StoreView, environment: EngineEnvironment) {
        self.view = view
        self.environment = environment
    }

    /// Tells a seed from others: a keyed hash, worth nothing without the master key.
    static func name(ofSeed secret: [UInt8], environment: EngineEnvironment) -> String {
        let key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: environment.masterKey, info: Data("countersign device seeds".utf8), outputByteCount: 32)
        return Base64URL.encode(Array(HMAC<SHA256>.authenticationCode(for: secret, using: key)))
    }

    /// The counter that a device begins with: never one that was passed with the same seed. Asked after all that is taken away was: devices
    /// of before seeds had names are known by that only.
    ///
    /// - Parameters:
    ///   - wanted: What whoever gives the device says.
    ///   - secret: Its seed.
    /// - Returns: The larger one of what is wanted and what is known.
    /// - Throws: What reading throws.
    func start(_ wanted: Int64, ofSeed secret: [UInt8]) throws -> Int64 {
        let name = Self.name(ofSeed: secret, environment: environment)
        let held = try view.records(.enrollment, where: "seed", is: name, limit: 100).map(Enrollment.init).compactMap(\.hotp?.counter)
        return ([wanted, try stored(name)?.counter, taken[name]].compactMap(\.self) + held).max() ?? wanted
    }

    /// The devices of one seed that others than a person have: one device is in one person's hands.
    func devices(ofSeed secret: [UInt8], notOf userID: String) throws -> [Enrollment] {
        try view.records(.enrollment, where: "seed", is: Self.name(ofSeed: secret, environment: environment), limit: 100)
            .map(Enrollment.init).filter { $0.userID != userID }
    }

    /// Takes a device away; what its seed has come to is written by ``changes()``. Nothing if it was taken already.
    mutating func take(_ device: Enrollment) throws -> [Change] {
        guard takenIDs.insert(device.id).inserted else { return [] }
        if let name = try name(of: device), let hotp = device.hotp { taken[name] = max(taken[name] ?? 0, hotp.counter) }
        return [device.removal]
    }

    /// What remembers the devices that were taken away.
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
