internal import Foundation
internal import Store

/// The writes that make the store match the users of the org file. Users also change outside the file: they change passwords, and
/// administrators suspend them. So the file changes a member only if it differs from the file's last applied value. A user that the file no
/// longer names is deactivated, not deleted. The account keeps its id and its enrollments, except HOTP devices from the file, in case the
/// file names the user again.
struct UserPlan {
    private(set) var changes: [Change] = []
    private(set) var entries: [ApplyReport.Entry] = []
    /// The passwords that must be hashed before the plan is complete, by login key.
    private(set) var missingHashes: [String: String] = [:]
    /// The enrollments and removals of factors, for the system log.
    private(set) var factorEvents: [FactorEvent] = []

    private let options: ApplyOptions
    private let hashes: [String: String]
    private let environment: EngineEnvironment
    private let derivedKeys: DerivedKeys
    private let now: Date
    /// The number of recent password hashes that are kept for each user, including the current one.
    private let history: Int
    /// The counters of the devices that are added and removed.
    private var counters: DeviceCounters
    /// The removals of devices, by user id.
    private var removals: [String: [Change]] = [:]

    /// A factor that the file adds to a user, or removes.
    struct FactorEvent {
        enum Action: String { case activate, deactivate }

        var action: Action
        var factor: FactorKind
        var userID: String
    }

    /// Plans from one view of the store, with the password hashes that were computed already, by login key.
    init(
        _ definition: OrganizationDefinition, options: ApplyOptions, hashes: [String: String], view: any StoreView,
        environment: EngineEnvironment, derivedKeys: DerivedKeys, now: Date
    ) throws {
        (self.options, self.hashes, self.environment, self.now) = (options, hashes, environment, now)
        self.derivedKeys = derivedKeys
        history = definition.passwordPolicy.age.history
        counters = DeviceCounters(view, environment: environment, derivedKeys: derivedKeys)
        let named = Set(definition.users.map { User.key(forLogin: $0.login) })
        let dismissed = try view.records(.user, where: "origin", is: RecordOrigin.file.rawValue, limit: 1_000_000).map(StoredUser.init)
            .filter { !named.contains(User.key(forLogin: $0.value.login)) }
        // All removals come first, because a device's current counter may come from a user who is later in the file.
        for wanted in definition.users {
            let key = User.key(forLogin: wanted.login)
            if let stored = try user(key, in: view) { try takeDevices(of: stored, wanted, key: key, view: view) }
        }
        for user in dismissed {
            removals[user.value.id] = try take(brought(user, view: view))
        }
        for wanted in definition.users {
            let key = User.key(forLogin: wanted.login)
            if let stored = try user(key, in: view) {
                try update(stored, to: wanted, key: key, view: view)
            } else {
                try create(wanted, key: key)
            }
        }
        for user in dismissed { try dismiss(user) }
        changes += try counters.changes()
    }

    private func user(_ key: String, in view: any StoreView) throws -> StoredUser? {
        try view.records(.user, where: "login", is: key, limit: 1).first.map { record in
            var stored = try StoredUser(record)
            if let applied = stored.applied { stored.applied = derivedKeys.covering(applied) }
            return stored
        }
    }

    private mutating func create(_ wanted: UserDefinition, key: String) throws {
        let hash = wanted.password.flatMap { newHash(of: $0, key: key) }
        var user = User(
            id: try environment.random.identifier(prefix: "00u"), login: wanted.login, status: wanted.status, profile: wanted.profile,
            groups: wanted.groups, passwordHash: hash, createdAt: now)
        user.mustChangePassword = wanted.mustChangePassword
        let device = try device(of: wanted, userID: user.id)
        let stored = StoredUser(
            new: user, origin: .file,
            applied: applied(
                wanted, tag: tag(of: wanted.password, key: key), totpTag: totpTag(of: wanted, key: key),
                device: FileDevice(tag: deviceTag(of: wanted, key: key), id: device?.device.id)))
        changes.append(.put(try stored.record(holding: user)))
        if let secret = wanted.totpSecret.flatMap(Base32.decode) {
            let app = try Enrollment(authenticatorApp: secret, of: user.id, environment: environment, now: now)
            changes.append(.put(try app.record()))
            factorEvents.append(FactorEvent(action: .activate, factor: .totp, userID: user.id))
        }
        if let device { changes += try device.losses + [.put(device.device.record())] }
        entries.append(ApplyReport.Entry(action: .created, kind: .user, name: wanted.login))
    }

    private mutating func update(_ stored: StoredUser, to wanted: UserDefinition, key: String, view: any StoreView) throws {
        var stored = stored
        var user = stored.value
        var note: String?
        let before = stored.applied?.definition
        if before?.login != wanted.login { user.login = wanted.login }
        if before?.profile != wanted.profile { user.profile = wanted.profile }
        if before?.groups != wanted.groups { user.groups = wanted.groups }
        if before?.status != wanted.status { user.setStatus(wanted.status, now: now) }
        if before?.mustChangePassword != wanted.mustChangePassword { user.mustChangePassword = wanted.mustChangePassword }
        var passwordTag = stored.applied?.passwordTag
        if let password = wanted.password, tag(of: password, key: key) != passwordTag {
            if user.passwordHash == nil || options.replacesPasswords {
                user.setPasswordHash(newHash(of: password, key: key), remembering: history, now: now)
                user.mustChangePassword = wanted.mustChangePassword
                passwordTag = tag(of: password, key: key)
                note = "password replaced"
            } else {
                note = "password differs from the one last applied; the user keeps theirs"
            }
        }
        let app = try appChanges(stored, wanted, key: key, view: view)
        if let more = app.note { note = [note, more].compactMap { $0 }.joined(separator: "; ") }
        let device = try deviceChanges(stored, wanted, key: key)
        if let more = device.note { note = [note, more].compactMap { $0 }.joined(separator: "; ") }
        // A replaced factor starts without wrong answers, like a factor that the user enrolls again.
        if !app.changes.isEmpty {
            user.forgetFailures(ofReplaced: .totp)
            factorEvents.append(FactorEvent(action: .activate, factor: .totp, userID: user.id))
        }
        if device.now.id != stored.applied?.deviceID, device.now.id != nil { user.forgetFailures(ofReplaced: .hotp) }
        let applied = applied(wanted, tag: passwordTag, totpTag: app.tag, device: device.now)
        let isChanged = user != stored.value || !app.changes.isEmpty || !device.changes.isEmpty
        changes += app.changes + device.changes
        if isChanged || applied != stored.applied || stored.origin != .file {
            if user.profile != stored.value.profile { user.updatedAt = now }
            stored.applied = applied
            stored.origin = .file
            changes.append(.put(try stored.record(holding: user)))
        }
        entries.append(ApplyReport.Entry(action: isChanged ? .changed : .unchanged, kind: .user, name: wanted.login, note: note))
    }

    private mutating func dismiss(_ stored: StoredUser) throws {
        guard stored.applied != nil else { return }
        // Devices from the file are removed, and return only if the file names them again.
        changes += removals[stored.value.id] ?? []
        var stored = stored
        var user = stored.value
        user.setStatus(.deactivated, now: now)
        stored.applied = nil
        changes.append(.put(try stored.record(holding: user)))
        entries.append(
            ApplyReport.Entry(action: .removed, kind: .user, name: user.login, note: "deactivated; name them again to bring them back"))
    }

    private func applied(_ wanted: UserDefinition, tag: [UInt8]?, totpTag: [UInt8]?, device: FileDevice) -> AppliedUser {
        AppliedUser(
            definition: wanted.withoutSecrets, passwordTag: tag, totpTag: totpTag, deviceTag: device.tag, deviceID: device.id,
            hasCoveredTags: derivedKeys.coversTags ? true : nil)
    }

    /// Returns the user's device in the file, and the changes that remove it from other users.
    private mutating func device(of wanted: UserDefinition, userID: String) throws -> (device: Enrollment, losses: [Change])? {
        guard let device = wanted.hardwareDevice, let secret = Base32.decode(device.secret) else { return nil }
        let losses = try take(counters.devices(ofSeed: secret, notOf: userID))
        let given = try Enrollment(
            hardwareDevice: secret, credentialID: device.credentialID, counter: counters.start(device.counter, ofSeed: secret), of: userID,
            environment: environment, derivedKeys: derivedKeys, now: now)
        factorEvents.append(FactorEvent(action: .activate, factor: .hotp, userID: userID))
        return (given, losses)
    }

    /// Returns the changes that remove devices. A device that was removed already is skipped.
    private mutating func take(_ devices: [Enrollment]) throws -> [Change] {
        try devices.flatMap { device in
            let removal = try counters.take(device)
            if !removal.isEmpty { factorEvents.append(FactorEvent(action: .deactivate, factor: .hotp, userID: device.userID)) }
            return removal
        }
    }

    /// The digest and the enrollment id of the device in the file, stored for a comparison at the next apply.
    private struct FileDevice {
        var tag: [UInt8]?
        var id: String?
    }

    /// Returns the user's device that the last apply of the file added; empty if an administrator has replaced the device since.
    private func brought(_ stored: StoredUser, view: any StoreView) throws -> [Enrollment] {
        guard let applied = stored.applied, applied.deviceTag != nil else { return [] }
        return try devices(of: stored.value.id, view: view).filter { applied.deviceID == nil || $0.id == applied.deviceID }
    }

    private func devices(of userID: String, view: any StoreView) throws -> [Enrollment] {
        try view.enrollments(of: userID).filter { $0.hotp != nil }
    }

    /// Plans to remove obsolete devices. If the file names another device, these are all devices of the user. If the file names no device
    /// any more, this is the device that the file added.
    private mutating func takeDevices(of stored: StoredUser, _ wanted: UserDefinition, key: String, view: any StoreView) throws {
        guard deviceTag(of: wanted, key: key) != stored.applied?.deviceTag else { return }
        let gone = try wanted.hardwareDevice == nil ? brought(stored, view: view) : devices(of: stored.value.id, view: view)
        removals[stored.value.id] = try take(gone)
    }

    /// Returns the device changes. Users cannot enroll such devices, so every change in the file is applied, and a device that the file no
    /// longer names is removed.
    private mutating func deviceChanges(
        _ stored: StoredUser, _ wanted: UserDefinition, key: String
    ) throws -> (changes: [Change], now: FileDevice, note: String?) {
        let known = FileDevice(tag: stored.applied?.deviceTag, id: stored.applied?.deviceID)
        let tag = deviceTag(of: wanted, key: key)
        guard tag != known.tag else { return ([], known, nil) }
        let gone = removals[stored.value.id] ?? []
        guard let (device, losses) = try self.device(of: wanted, userID: stored.value.id) else {
            return (gone, FileDevice(), gone.isEmpty ? nil : "device taken away")
        }
        return (
            try gone + losses + [.put(device.record())], FileDevice(tag: tag, id: device.id),
            gone.isEmpty ? "device given" : "device replaced"
        )
    }

    private func deviceTag(of wanted: UserDefinition, key: String) -> [UInt8]? {
        wanted.hardwareDevice.flatMap { tag(of: "\($0.secret) \($0.counter) \($0.credentialID)", key: "hotp \u{0}" + key) }
    }

    /// Returns the changes of the authenticator app. As with passwords, a user with an app keeps it, unless the options replace passwords.
    private func appChanges(
        _ stored: StoredUser, _ wanted: UserDefinition, key: String, view: any StoreView
    ) throws -> (changes: [Change], tag: [UInt8]?, note: String?) {
        let known = stored.applied?.totpTag
        guard let secret = wanted.totpSecret.flatMap(Base32.decode), let tag = totpTag(of: wanted, key: key),
            tag != known
        else {
            return ([], known, nil)
        }
        let own = try view.enrollments(of: stored.value.id)
            .filter { $0.totp?.provider == .google }
        // A secret that does not open was sealed by a start with a wrong master key and never produced a valid code.
        let isUsable = own.contains { app in
            app.status != .pending && (try? app.totp?.secret(ofEnrollment: app.id, environment: environment)) != nil
        }
        guard options.replacesPasswords || !isUsable else {
            return ([], known, "authenticator app differs from the one last applied; the user keeps theirs")
        }
        let app = try Enrollment(authenticatorApp: secret, of: stored.value.id, environment: environment, now: now)
        let removals = own.map { Change.remove(.enrollment, id: $0.id, version: $0.version) }
        return (removals + [.put(try app.record())], tag, "authenticator app replaced")
    }

    private func totpTag(of wanted: UserDefinition, key: String) -> [UInt8]? { tag(of: wanted.totpSecret, key: "totp \u{0}" + key) }

    private mutating func newHash(of password: String, key: String) -> String? {
        if let hash = hashes[key] { return hash }
        missingHashes[key] = password
        return nil
    }

    /// Returns a keyed hash that recognizes the file's secret without storing it; useless without the master key.
    private func tag(of password: String?, key: String) -> [UInt8]? { derivedKeys.tag(of: password, key: key) }
}
