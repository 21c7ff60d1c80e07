public import AuthFoundation
public import Foundation

/// Makes a device authenticator.
///
/// ```swift
/// let config = ApplicationConfig(applicationName: "Acme", applicationVersion: "1.0", applicationGroupId: "group.com.example.acme")
/// let authenticator = try DeviceAuthenticatorBuilder(applicationConfig: config).create()
/// ```
///
/// Besides the published members it has some for what an authenticator otherwise takes from the system: the folder, the keys, the network,
/// the clock, the verification of the person. Authenticators with different folders know nothing of each other. Safe from any thread.
public final class DeviceAuthenticatorBuilder: Sendable {
    private struct Parts {
        var loggers: [any OktaLoggerProtocol] = []
        var directory: URL?
        var keyStore: (any DeviceKeyStore)?
        var session: (any URLSessionProtocol)?
        var clock: any OAuth2Clock = DeviceClock()
        var userVerifier: (any UserVerifier)?
        var profile: DeviceProfile?
        var randomness = Randomness.system
    }

    private let applicationConfig: ApplicationConfig
    private let parts = Locked(Parts())

    /// Begins with the app.
    ///
    /// - Parameter applicationConfig: What the app says of itself.
    public init(applicationConfig: ApplicationConfig) {
        self.applicationConfig = applicationConfig
    }

    /// Adds a logger, in the place of the one that writes warnings and errors to standard error.
    ///
    /// - Parameter logger: The logger.
    /// - Returns: The builder.
    @discardableResult
    public func addLogger(_ logger: any OktaLoggerProtocol) -> DeviceAuthenticatorBuilder {
        with { $0.loggers.append(logger) }
    }

    /// Names the folder of enrollments and keys, in the place of the one that `applicationGroupId` stands for.
    ///
    /// - Parameter directory: A folder that nothing else uses; made if need be, and readable by nobody else.
    /// - Returns: The builder.
    @discardableResult
    public func storageDirectory(_ directory: URL) -> DeviceAuthenticatorBuilder { with { $0.directory = directory } }

    /// Says where private keys are: by default the Secure Enclave or the Keychain, and elsewhere a ``FileDeviceKeyStore`` in the same folder.
    ///
    /// - Parameter keyStore: The store of keys.
    /// - Returns: The builder.
    @discardableResult
    public func keyStore(_ keyStore: any DeviceKeyStore) -> DeviceAuthenticatorBuilder { with { $0.keyStore = keyStore } }

    /// Says what requests are sent through: by default `OAuth2Client.defaultSession`, else a session without cookies or cache.
    ///
    /// - Parameter session: The session.
    /// - Returns: The builder.
    @discardableResult
    public func urlSession(_ session: any URLSessionProtocol) -> DeviceAuthenticatorBuilder { with { $0.session = session } }

    /// Says what time it is: by default the device's clock.
    ///
    /// Signatures for an org carry the org's time: the device's clock, corrected by up to a day with the `Date` of the org's responses.
    ///
    /// - Parameter clock: The clock.
    /// - Returns: The builder.
    @discardableResult
    public func clock(_ clock: any OAuth2Clock) -> DeviceAuthenticatorBuilder { with { $0.clock = clock } }

    /// Says who verifies the person; see ``UserVerifier``. Without one, user verification can't be turned on where the system does not verify.
    ///
    /// - Parameter userVerifier: What verifies the person.
    /// - Returns: The builder.
    @discardableResult
    public func userVerifier(_ userVerifier: any UserVerifier) -> DeviceAuthenticatorBuilder { with { $0.userVerifier = userVerifier } }

    /// Says what the server is told of the device: by default ``DeviceProfile/current``.
    ///
    /// - Parameter profile: The device.
    /// - Returns: The builder.
    @discardableResult
    public func deviceProfile(_ profile: DeviceProfile) -> DeviceAuthenticatorBuilder { with { $0.profile = profile } }

    /// Where random values come from: for tests.
    @discardableResult
    package func randomness(_ randomness: Randomness) -> DeviceAuthenticatorBuilder { with { $0.randomness = randomness } }

    private func with(_ change: (inout Parts) -> Void) -> DeviceAuthenticatorBuilder {
        parts.withLock { change(&$0) }
        return self
    }

    /// Makes the authenticator, and its folder if need be. Registers the notification categories whose titles are set.
    ///
    /// - Returns: The authenticator.
    /// - Throws: ``DeviceAuthenticatorError/storageError(_:)`` if the folder can't be used, because the group is not the app's or not a usable
    ///   name, or because others may change it.
    public func create() throws -> any DeviceAuthenticatorProtocol {
        do { return try device() } catch { throw DeviceAuthenticatorError.reporting(error) }
    }

    private func device() throws -> PushDevice {
        let parts = parts.withLock { $0 }
        let settings = applicationConfig.pushSettings
        let directory = try parts.directory ?? StorageLocation.folder(group: applicationConfig.applicationGroupId)
        let folder = EntryFolder(path: directory.standardizedFileURL.path, keySource: storeKeySource(parts.keyStore))
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

    /// Who keeps private keys in files keeps the key of the enrollments in one as well: programs without a Keychain entitlement do.
    private func storeKeySource(_ keyStore: (any DeviceKeyStore)?) -> any StoreKeySource {
        #if canImport(Security)
        if keyStore is FileDeviceKeyStore { return StoreKeyFile() }
        return KeychainStoreKey(group: applicationConfig.keychainGroupId)
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
