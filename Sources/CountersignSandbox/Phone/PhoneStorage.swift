internal import AuthorizationServer
internal import Crypto
internal import DeviceAuthenticator
internal import Foundation

/// A phone's folder: what the SDK keeps there, and what a system would keep for the app: whose phone it is, and its push token.
struct PhoneStorage: Sendable {
    let folder: URL

    private var ownerFile: URL { folder.appending(path: "owner") }
    private var tokenFile: URL { folder.appending(path: "push-token") }

    /// The folder of a person's phone.
    ///
    /// - Parameters:
    ///   - login: Whose phone it is.
    ///   - parent: The folder of all phones.
    init(of login: String, in parent: URL) {
        // A login may hold what no file name can.
        let name = SHA256.hash(data: Data(login.lowercased().utf8)).prefix(12).map { String(UInt16($0) | 0x100, radix: 16).dropFirst() }
            .joined()
        folder = parent.appending(path: name, directoryHint: .isDirectory)
    }

    /// The logins of those whose phones are kept in a folder.
    static func owners(in parent: URL) -> [String] {
        // A folder that is not there has no phones in it.
        let folders = (try? FileManager.default.contentsOfDirectory(at: parent, includingPropertiesForKeys: nil)) ?? []
        return folders.compactMap { try? String(contentsOf: $0.appending(path: "owner"), encoding: .utf8) }.sorted()
    }

    /// Makes the folder, if need be.
    func prepare(for login: String) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try Data(login.utf8).write(to: ownerFile, options: .atomic)
    }

    /// The push token that the system gave the app; nil if it has none yet.
    var pushToken: Data? { try? Data(contentsOf: tokenFile) }

    /// A new push token, as the system gives one.
    func renewPushToken() throws -> Data {
        let token = Data(try SystemRandomSource().bytes(32))
        try token.write(to: tokenFile, options: .atomic)
        return token
    }

    func remove() throws {
        try FileManager.default.removeItem(at: folder)
    }

    /// The SDK as the phone's app makes it.
    func authenticator(
        of login: String, network: PhoneNetwork, clock: SandboxClock, owner: PhoneOwner, logger: PhoneLogger
    ) throws -> any DeviceAuthenticatorProtocol {
        let directory = folder.appending(path: "device", directoryHint: .isDirectory)
        let application = ApplicationConfig(
            applicationName: "Countersign Phone", applicationVersion: "1.0", applicationGroupId: "group.dev.countersign.phone")
        application.apsEnvironment = .development
        return try DeviceAuthenticatorBuilder(applicationConfig: application)
            .storageDirectory(directory)
            // In files on Apple's systems too, where a test has no entitlement for the Keychain; and the PIN is nobody's secret.
            .keyStore(FileDeviceKeyStore(directory: directory, secretCost: 10))
            .urlSession(network)
            .clock(clock)
            .userVerifier(owner)
            .deviceProfile(
                DeviceProfile(
                    displayName: "Virtual phone of \(login)", platform: "IOS", manufacturer: "Countersign", model: "VirtualPhone1,1",
                    osVersion: "1.0.0", screenLockType: .passcode)
            )
            .addLogger(logger)
            .create()
    }
}
