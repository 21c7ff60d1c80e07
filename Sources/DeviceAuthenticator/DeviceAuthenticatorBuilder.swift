public import AuthFoundation
public import Foundation

/// Creates a device authenticator. Safe from any thread.
///
/// ```swift
/// let config = ApplicationConfig(applicationName: "Acme", applicationVersion: "1.0", applicationGroupId: "group.com.example.acme")
/// let authenticator = try DeviceAuthenticatorBuilder(applicationConfig: config).create()
/// ```
///
/// Besides the functions that Okta documents, the builder has functions that replace the storage folder, the keys, the network, the clock
/// and the verification of the user. Authenticators with different folders are independent.
public final class DeviceAuthenticatorBuilder: Sendable {
    private struct Parts {
        var loggers: [any DeviceAuthenticatorLogger] = []
        var directory: URL?
        var keyStore: (any DeviceKeyStore)?
        var session: (any URLSessionProtocol)?
        var clock: any OAuth2Clock = DeviceClock()
        var userVerifier: (any UserVerifier)?
        var profile: DeviceProfile?
        var randomness = Randomness.system
        var keySource: (any StoreKeySource)?
    }

    private let applicationConfig: ApplicationConfig
    private let parts = Locked(Parts())

    /// Creates a builder for an app.
    public init(applicationConfig: ApplicationConfig) {
        self.applicationConfig = applicationConfig
    }

    /// Adds a logger. The first logger replaces the default ``ConsoleLogger``.
    @discardableResult
    public func addLogger(_ logger: any DeviceAuthenticatorLogger) -> DeviceAuthenticatorBuilder {
        with { $0.loggers.append(logger) }
    }

    /// Adds a logger of another module, such as the `OktaLogger` of okta-logger-swift, which this module does not import.
    /// - A logger is called if its type conforms to ``DeviceAuthenticatorLogger``. An app can declare this:
    ///   `extension OktaLogger: @retroactive DeviceAuthenticatorLogger, @retroactive @unchecked Sendable {}`
    /// - On Apple's platforms, an object is also called if its functions `info` and `warning` are visible in Objective-C.
    /// - Any other logger is not called: this function writes a warning to standard error and changes nothing.
    /// - Parameter logger: The logger. Its functions must be callable on any thread.
    @discardableResult
    public func addLogger(_ logger: Any) -> DeviceAuthenticatorBuilder {
        if let logger = logger as? any DeviceAuthenticatorLogger { return addLogger(logger) }
        #if canImport(ObjectiveC)
        if let logger = ObjectiveCLogger(logger) { return addLogger(logger) }
        #endif
        ConsoleLogger().warning(
            eventName: "addLogger", message: "\(type(of: logger)) is not called. Let it conform to DeviceAuthenticatorLogger.",
            properties: nil, file: #fileID, line: NSNumber(value: #line), funcName: #function)
        return self
    }

    /// Sets the folder for enrollments and keys. By default `applicationGroupId` determines it.
    /// - Parameter directory: A folder for this purpose only. If the folder does not exist, it is created with access for the current user
    ///   only.
    @discardableResult
    public func storageDirectory(_ directory: URL) -> DeviceAuthenticatorBuilder { with { $0.directory = directory } }

    /// Sets the store of private keys. By default it is the Secure Enclave or the Keychain; on other platforms, a ``FileDeviceKeyStore`` in
    /// the storage folder.
    @discardableResult
    public func keyStore(_ keyStore: any DeviceKeyStore) -> DeviceAuthenticatorBuilder { with { $0.keyStore = keyStore } }

    /// Sets the session for requests. By default it is `OAuth2Client.defaultSession` if set, otherwise a session without cookies and cache.
    @discardableResult
    public func urlSession(_ session: any URLSessionProtocol) -> DeviceAuthenticatorBuilder { with { $0.session = session } }

    /// Sets the clock; by default the device's clock. Signatures for an org carry the org's time: the device's clock, corrected by up to a
    /// day with the `Date` header of the org's responses.
    @discardableResult
    public func clock(_ clock: any OAuth2Clock) -> DeviceAuthenticatorBuilder { with { $0.clock = clock } }

    /// Sets the verifier of the user; see ``UserVerifier``. Without a verifier, user verification works only where the system verifies the
    /// user.
    @discardableResult
    public func userVerifier(_ userVerifier: any UserVerifier) -> DeviceAuthenticatorBuilder { with { $0.userVerifier = userVerifier } }

    /// Sets the description of the device for the server; by default ``DeviceProfile/current``.
    @discardableResult
    public func deviceProfile(_ profile: DeviceProfile) -> DeviceAuthenticatorBuilder { with { $0.profile = profile } }

    /// Sets the source of random values, for tests.
    @discardableResult
    package func randomness(_ randomness: Randomness) -> DeviceAuthenticatorBuilder { with { $0.randomness = randomness } }

    /// Sets the source of the key that seals the enrollments, for tests.
    @discardableResult
    func storeKeySource(_ keySource: any StoreKeySource) -> DeviceAuthenticatorBuilder { with { $0.keySource = keySource } }

    private func with(_ change: (inout Parts) -> Void) -> DeviceAuthenticatorBuilder {
        parts.withLock { change(&$0) }
        return self
    }

    /// Creates the authenticator, and its folder if needed. Registers the notification categories whose titles are set.
    /// - Throws: ``DeviceAuthenticatorError/storageError(_:)`` if the folder cannot be used: the app has no access to the group, the
    ///   group's name is invalid, or other users may change the folder.
    public func create() throws -> any DeviceAuthenticatorProtocol {
        do { return try device() } catch { throw DeviceAuthenticatorError.reporting(error) }
    }

    private func device() throws -> PushDevice {
        let parts = parts.withLock { $0 }
        let settings = applicationConfig.pushSettings
        let directory = try parts.directory ?? StorageLocation.folder(group: applicationConfig.applicationGroupId)
        let folder = EntryFolder(path: directory.standardizedFileURL.path, keySource: parts.keySource ?? defaultKeySource(parts.keyStore))
        try folder.create()
        let keys = parts.keyStore ?? defaultKeyStore(folder: folder, randomness: parts.randomness)
        var profile = parts.profile ?? DeviceProfile.current
        if parts.profile == nil {
            profile.secureHardwarePresent = keys.isHardwareBacked
            if parts.userVerifier != nil, profile.screenLockType == .none { profile.screenLockType = .passcode }
        }
        #if canImport(UserNotifications) && canImport(Darwin) && !os(tvOS)
        NotificationCategories.register(settings)
        #endif
        return PushDevice(
            store: EnrollmentStore(folder: folder, keys: keys), keys: keys,
            transport: OrgTransport(
                session: parts.session ?? OAuth2Client.defaultSession ?? OrgTransport.ownSession,
                userAgent: SystemName.userAgent(application: applicationConfig, profile: profile), clock: OrgClock(parts.clock)),
            randomness: parts.randomness, userVerifier: parts.userVerifier,
            description: DeviceDescription(
                profile: profile, applicationName: applicationConfig.applicationName,
                applicationVersion: applicationConfig.applicationVersion,
                applicationInstallationId: applicationConfig.applicationInstallationId),
            apsEnvironment: settings.apsEnvironment == .production ? "production" : "development",
            log: EventLog(loggers: parts.loggers.isEmpty ? [ConsoleLogger()] : parts.loggers))
    }

    /// Returns the source of the key that seals the enrollments. With ``FileDeviceKeyStore`` the source is also a file, because programs
    /// without a Keychain entitlement use that store.
    private func defaultKeySource(_ keyStore: (any DeviceKeyStore)?) -> any StoreKeySource {
        #if canImport(Security)
        if keyStore is FileDeviceKeyStore { return StoreKeyFile() }
        return KeychainStoreKey(keychain: SystemKeychain(), group: applicationConfig.keychainGroupId)
        #else
        return StoreKeyFile()
        #endif
    }

    private func defaultKeyStore(folder: EntryFolder, randomness: Randomness) -> any DeviceKeyStore {
        #if canImport(Security)
        KeychainDeviceKeyStore(group: applicationConfig.keychainGroupId)
        #else
        FileDeviceKeyStore(folder: folder, randomness: randomness)
        #endif
    }
}
