import AuthFoundation
import Foundation

/// The Keychain of a device, in memory, with the behavior that Apple documents (Keychain Services; Apple Platform Security, "Keychain data
/// protection"): primary keys, access groups, protection classes and the lock state, access control with a prompt, and passcodes. Several
/// apps of the device can use it, each through an ``App``. With a ``KeychainFile``, the apps can be separate processes.
final class KeychainDouble: Sendable {
    enum Lock { case beforeFirstUnlock, locked, unlocked }

    /// The answer of the user to a prompt.
    enum Answer { case approves, cancels, fails }

    struct Item {
        var record: KeychainRecord
        var group: String
    }

    fileprivate struct State {
        var items: [Item] = []
        var lock = Lock.unlocked
        var answer = Answer.approves
        /// Whether the system can show a prompt; not in the background.
        var canAsk = true
        var prompts: [String] = []
        var changes = 0
        /// Runs once, before the next change of an item: another process is faster.
        var race: (@Sendable () -> Void)?
        /// Runs once, before the next read that can ask the user.
        var readRace: (@Sendable () -> Void)?
        /// Runs once, after the next read that can ask the user.
        var afterReadRace: (@Sendable () -> Void)?
        /// Runs once, after the next list of items.
        var listRace: (@Sendable () -> Void)?
    }

    private let state = Locked(State())
    private let clock: any OAuth2Clock
    private let file: KeychainFile?

    init(clock: any OAuth2Clock = DeviceClock(), file: KeychainFile? = nil) {
        self.clock = clock
        self.file = file
    }

    /// Runs a function on the state. No other process changes the file meanwhile.
    private func withState<Result>(_ body: (inout State) -> Result) -> Result {
        guard let file else { return state.withLock(body) }
        return file.change { items, changes in
            state.withLock { state in
                (state.items, state.changes) = (items, changes)
                defer { (items, changes) = (state.items, state.changes) }
                return body(&state)
            }
        }
    }

    var lock: Lock {
        get { state.withLock { $0.lock } }
        set { state.withLock { $0.lock = newValue } }
    }

    var answer: Answer {
        get { state.withLock { $0.answer } }
        set { state.withLock { $0.answer = newValue } }
    }

    var canAsk: Bool {
        get { state.withLock { $0.canAsk } }
        set { state.withLock { $0.canAsk = newValue } }
    }

    /// The texts of the prompts so far.
    var prompts: [String] { state.withLock { $0.prompts } }

    /// The groups of the items of a service.
    func groups(of service: String) -> [String] { withState { $0.items.filter { $0.record.service == service }.map(\.group) } }

    /// The stored items of a service.
    func records(of service: String) -> [KeychainRecord] {
        withState { $0.items.filter { $0.record.service == service }.map(\.record) }
    }

    /// Runs a function once, right before the next change of an item.
    func beforeNextChange(_ race: @escaping @Sendable () -> Void) { state.withLock { $0.race = race } }

    /// Runs a function once, right before the next read of a value that can ask the user, such as while the user reads the prompt.
    func beforeNextRead(_ race: @escaping @Sendable () -> Void) { state.withLock { $0.readRace = race } }

    /// Runs a function once, right after the next read of a value that can ask the user.
    func afterNextRead(_ race: @escaping @Sendable () -> Void) { state.withLock { $0.afterReadRace = race } }

    /// Runs a function once, right after the next list of items.
    func afterNextList(_ race: @escaping @Sendable () -> Void) { state.withLock { $0.listRace = race } }

    /// Removes the device's passcode, and with it the items that need one.
    func removePasscode() {
        withState { $0.items.removeAll { $0.record.protection.accessibility == .whenPasswordSetThisDeviceOnly } }
    }

    /// Restores the items on another device, which lacks the items of this device only.
    func moveToNewDevice() {
        withState { state in
            state.items.removeAll { item in
                switch item.record.protection.accessibility {
                case .unlockedThisDeviceOnly, .afterFirstUnlockThisDeviceOnly, .whenPasswordSetThisDeviceOnly, .alwaysThisDeviceOnly: true
                case .unlocked, .afterFirstUnlock, .always: false
                }
            }
        }
    }

    private func runRace(_ kind: WritableKeyPath<State, (@Sendable () -> Void)?> = \.race) {
        let race = state.withLock { state in
            defer { state[keyPath: kind] = nil }
            return state[keyPath: kind]
        }
        race?()
    }

    /// An authentication that the user has already completed.
    struct Context: TokenAuthenticationContext {}

    /// An app or extension with its access groups, the first of which is its own.
    struct App: KeychainAccess {
        let device: KeychainDouble
        var groups = ["app"]

        func add(_ item: KeychainRecord, context: (any TokenAuthenticationContext)?) -> OSStatus {
            device.runRace()
            return device.withState { state in
                let group = item.accessGroup ?? groups[0]
                guard groups.contains(group) else { return Status.missingEntitlement }
                let isTaken = state.items.contains {
                    $0.group == group && $0.record.service == item.service && $0.record.account == item.account
                        && $0.record.isSynchronizable == item.isSynchronizable
                }
                guard !isTaken else { return KeychainStatus.duplicateItem }
                guard state.isReadable(item.protection) else { return KeychainStatus.interactionNotAllowed }
                state.items.append(Item(record: state.changed(item, device.clock), group: group))
                return KeychainStatus.success
            }
        }

        func list(_ query: KeychainQuery) -> Result<[KeychainRecord], KeychainStatus> {
            defer { device.runRace(\.listRace) }
            return device.withState { state in
                let found = state.indices(query, groups)
                guard !found.isEmpty else { return .failure(KeychainStatus(KeychainStatus.itemNotFound)) }
                // The attributes are encrypted with a key of the item's class, and one unreadable item fails the whole list.
                guard found.allSatisfy({ state.isReadable(state.items[$0].record.protection) }) else {
                    return .failure(KeychainStatus(KeychainStatus.interactionNotAllowed))
                }
                return .success(
                    found.map { index in
                        var record = state.record(index)
                        record.value = nil
                        return record
                    })
            }
        }

        func read(
            _ query: KeychainQuery, prompt: String?, context: (any TokenAuthenticationContext)?
        ) -> Result<KeychainRecord, KeychainStatus> {
            if !(context is NoInteraction) { device.runRace(\.readRace) }
            defer { if !(context is NoInteraction) { device.runRace(\.afterReadRace) } }
            return device.withState { state in
                guard let index = state.indices(query, groups).first else { return .failure(KeychainStatus(KeychainStatus.itemNotFound)) }
                let record = state.record(index)
                guard state.isReadable(record.protection) else { return .failure(KeychainStatus(KeychainStatus.interactionNotAllowed)) }
                if record.protection.requiresUser, let failure = state.ask(prompt, context) { return .failure(failure) }
                return .success(record)
            }
        }

        func update(_ query: KeychainQuery, _ changes: KeychainChanges, context: (any TokenAuthenticationContext)?) -> OSStatus {
            device.runRace()
            return device.withState { state in
                let found = state.indices(query, groups)
                guard !found.isEmpty else { return KeychainStatus.itemNotFound }
                for index in found {
                    var record = state.items[index].record
                    guard state.isReadable(record.protection) else { return KeychainStatus.interactionNotAllowed }
                    // The Keychain decrypts the value to write the item again.
                    if record.protection.requiresUser, let failure = state.ask(nil, context) { return failure.code }
                    record.generic = changes.generic ?? record.generic
                    record.value = changes.value ?? record.value
                    record.protection = changes.protection ?? record.protection
                    state.items[index].record = state.changed(record, device.clock)
                }
                return KeychainStatus.success
            }
        }

        func delete(_ query: KeychainQuery) -> OSStatus {
            device.runRace()
            return device.withState { state in
                let found = state.indices(query, groups)
                for index in found.reversed() { state.items.remove(at: index) }
                state.changes += found.count
                return found.isEmpty ? KeychainStatus.itemNotFound : KeychainStatus.success
            }
        }
    }

    enum Status {
        /// `errSecMissingEntitlement`.
        static let missingEntitlement: OSStatus = -34_018
        /// `errSecUserCanceled`.
        static let userCanceled: OSStatus = -128
        /// `errSecAuthFailed`.
        static let authFailed: OSStatus = -25_293
    }
}

extension KeychainProtection {
    /// Access control without flags requires nothing of the user.
    fileprivate var requiresUser: Bool {
        if case .flags(0) = accessControl { false } else { accessControl != nil }
    }
}

extension KeychainDouble.State {
    fileprivate func indices(_ query: KeychainQuery, _ groups: [String]) -> [Int] {
        items.indices.filter { index in
            let (record, group) = (items[index].record, items[index].group)
            return groups.contains(group) && query.service.map { $0 == record.service } ?? true
                && query.account.map { $0 == record.account } ?? true && query.accessGroup.map { $0 == group } ?? true
                && query.generic.map { $0 == record.generic } ?? true
                && query.accessibility.map { $0 == record.protection.accessibility } ?? true
                && query.isSynchronizable.map { $0 == record.isSynchronizable } ?? true
        }
    }

    fileprivate func record(_ index: Int) -> KeychainRecord {
        var record = items[index].record
        record.accessGroup = items[index].group
        record.accessControlObject = record.protection.accessControl
        return record
    }

    fileprivate func isReadable(_ protection: KeychainProtection) -> Bool {
        switch protection.accessibility {
        case .unlocked, .unlockedThisDeviceOnly, .whenPasswordSetThisDeviceOnly: lock == .unlocked
        case .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly, .always, .alwaysThisDeviceOnly: lock != .beforeFirstUnlock
        }
    }

    /// Shows a prompt, unless the user has already authenticated. Returns the failure; `nil` if the user approved.
    fileprivate mutating func ask(_ prompt: String?, _ context: (any TokenAuthenticationContext)?) -> KeychainStatus? {
        if context is KeychainDouble.Context { return nil }
        guard canAsk, lock == .unlocked, !(context is NoInteraction) else { return KeychainStatus(KeychainStatus.interactionNotAllowed) }
        prompts.append(prompt ?? "")
        switch answer {
        case .approves: return nil
        case .cancels: return KeychainStatus(KeychainDouble.Status.userCanceled)
        case .fails: return KeychainStatus(KeychainDouble.Status.authFailed)
        }
    }

    /// Sets the time of the change, which increases strictly.
    fileprivate mutating func changed(_ record: KeychainRecord, _ clock: any OAuth2Clock) -> KeychainRecord {
        changes += 1
        var record = record
        record.modifiedAt = clock.now.addingTimeInterval(TimeInterval(changes) / 1_000_000)
        return record
    }
}
