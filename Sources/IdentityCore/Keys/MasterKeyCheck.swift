internal import Crypto
internal import Foundation
internal import JOSE
internal import Store

/// Proves that a master key of the engine is the key that sealed the store. The first start seals a record with the root of
/// ``DerivedKeys``. Every later start opens that record before the first write. A record of an earlier version contains a known text; the
/// root is then the master key itself. An older store without the record is checked by its secrets, and gets the record when the
/// organization is next applied.
struct MasterKeyCheck {
    static let reference = RecordReference(.masterKeyCheck, "check")
    private static let content = Array("countersign master key".utf8)

    /// The content of the record, after a master key opened it.
    struct State: Sendable, Redacted {
        /// The place of the key that sealed the store among the engine's keys.
        let key: Int
        let derived: DerivedKeys
        /// The ids of earlier master keys.
        let retired: [String]
        /// The ids of the earlier master keys that were removed: a server must not encrypt with them any more.
        let removed: [String]
        /// When the store was last rotated to another master key; `nil` for never.
        let rotatedAt: Date?
        /// Whether a rotation has not encrypted all secrets again yet.
        let isUnfinished: Bool
        /// The change that adds the record; `nil` if the store has it.
        let change: Change?
        /// The version of the record; 0 for none.
        let version: Int64
        fileprivate let root: [UInt8]
        /// Whether the record has the format of earlier versions.
        let isRootMasterKey: Bool

        /// The condition that the store is not rotated at the same moment.
        var unchanged: Change { .unchanged(MasterKeyCheck.reference, version: version) }
    }

    private let environment: EngineEnvironment
    private var keys: MasterKeys { environment.masterKeys }

    init(_ environment: EngineEnvironment) { self.environment = environment }

    /// Opens the check record of a store. Throws ``StoreError/Code/wrongMasterKey`` if no key of the engine sealed the store, or if the
    /// engine's first key is an earlier one that was removed: servers with the new key only could not open the secrets of this engine.
    func verify(_ view: any StoreView) throws -> State {
        guard let record = try view.record(Self.reference.kind, id: Self.reference.id) else { return try added(to: view) }
        let json = try? JSONValue(parsing: record.payload)
        let retired = json?["retired"]?.arrayValue?.compactMap(\.stringValue) ?? []
        let removed = json?["removed"]?.arrayValue?.compactMap(\.stringValue) ?? []
        func opened(_ member: String) -> (secret: [UInt8], key: Int)? {
            guard let sealed = json?[member]?.stringValue, let bytes = try? Base64URL.decode(sealed) else { return nil }
            return try? RecordCoding.opened(bytes, for: Self.reference, masterKeys: keys)
        }
        func state(_ root: [UInt8], _ key: Int, isRootMasterKey: Bool) throws -> State {
            guard let derived = DerivedKeys(root: root) else { throw Self.wrongKey }
            guard !removed.contains(keys.ids[0]) else { throw Self.rotated }
            return State(
                key: key, derived: derived, retired: retired, removed: removed,
                rotatedAt: json?["rotated"]?.intValue.map { Date(clampingNumericDate: Double($0)) },
                isUnfinished: json?["unfinished"]?.boolValue == true, change: nil, version: record.version, root: root,
                isRootMasterKey: isRootMasterKey)
        }
        if let (root, key) = opened("root") { return try state(root, key, isRootMasterKey: false) }
        // The format of earlier versions.
        if let (content, key) = opened("sealed"), content == Self.content {
            return try state(DerivedKeys.root(keys.all[key]), key, isRootMasterKey: true)
        }
        throw keys.ids.contains(where: retired.contains) ? Self.rotated : Self.wrongKey
    }

    /// Returns the state of a store without the record, with the change that adds it.
    private func added(to view: any StoreView) throws -> State {
        let secrets = try SealedSecret.configuration(in: view)
        let isNew = secrets.isEmpty
        guard let key = isNew ? 0 : secrets.lazy.compactMap({ $0.opener(keys) }).first else { throw Self.wrongKey }
        let root = try isNew ? DerivedKeys.newRoot(environment.random) : DerivedKeys.root(keys.all[key])
        guard let derived = DerivedKeys(root: root) else { throw Self.wrongKey }
        // A store of an earlier version keeps that version's format, because servers of that version may still run.
        let sealed = try RecordCoding.seal(isNew ? root : Self.content, for: Self.reference, environment: environment.sealing(with: key))
        let payload: JSONValue = [isNew ? "root" : "sealed": .string(Base64URL.encode(sealed))]
        return State(
            key: key, derived: derived, retired: [], removed: [], rotatedAt: nil, isUnfinished: false,
            change: Self.put(payload, version: 0), version: 0,
            root: root, isRootMasterKey: !isNew)
    }

    /// Returns the change that begins a rotation to the first key; `nil` if that key sealed the store.
    func beginning(_ state: State, now: Date) throws -> Change? {
        guard state.key != 0 else { return nil }
        let root = try DerivedKeys.covering(state.root, isMasterKey: state.isRootMasterKey, random: environment.random)
        let retired = state.retired.filter { $0 != keys.ids[0] && $0 != keys.ids[state.key] } + [keys.ids[state.key]]
        return try put(root, retired: retired, removed: state.removed, rotatedAt: now, isUnfinished: true, version: state.version)
    }

    /// Returns the change that ends a rotation; `nil` if none is unfinished.
    func ending(_ state: State) throws -> Change? {
        guard state.isUnfinished, let rotatedAt = state.rotatedAt else { return nil }
        return try put(
            state.root, retired: state.retired, removed: state.removed, rotatedAt: rotatedAt, isUnfinished: false, version: state.version)
    }

    /// Returns the change that removes the earlier keys; `nil` if there is none. The first key must have sealed the store.
    func removing(_ state: State) throws -> Change? {
        guard state.key == 0, let rotatedAt = state.rotatedAt, state.removed != state.retired else { return nil }
        return try put(
            state.root, retired: state.retired, removed: state.retired, rotatedAt: rotatedAt, isUnfinished: state.isUnfinished,
            version: state.version)
    }

    private func put(
        _ root: [UInt8], retired: [String], removed: [String], rotatedAt: Date, isUnfinished: Bool, version: Int64
    ) throws -> Change {
        let sealed = try RecordCoding.seal(root, for: Self.reference, environment: environment)
        var payload: JSONValue = [
            "root": .string(Base64URL.encode(sealed)), "retired": .array(retired.map(JSONValue.string)),
            "rotated": .integer(rotatedAt.numericDate),
        ]
        if !removed.isEmpty { payload["removed"] = .array(removed.map(JSONValue.string)) }
        if isUnfinished { payload["unfinished"] = true }
        return Self.put(payload, version: version)
    }

    private static func put(_ payload: JSONValue, version: Int64) -> Change {
        .put(Record(kind: reference.kind, id: reference.id, version: version, payload: payload.serialized()))
    }

    private static let wrongKey = StoreError(
        .wrongMasterKey,
        "Another master key sealed this store. Start with that key: master.key in the data folder, --master-key-file or COUNTERSIGN_MASTER_KEY. Nothing was written."
    )

    private static let rotated = StoreError(
        .wrongMasterKey,
        "This store was rotated to a newer master key. Give this server the key file, or the key, that the other servers use now. Nothing was written."
    )
}

extension EngineEnvironment {
    /// Returns the environment with one of its master keys as the first one.
    func sealing(with key: Int) -> EngineEnvironment {
        var environment = self
        environment.masterKeys = masterKeys.moved(toFirst: key)
        return environment
    }
}
