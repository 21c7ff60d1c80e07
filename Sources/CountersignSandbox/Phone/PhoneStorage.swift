internal import AuthorizationServer
internal import Crypto
internal import DeviceAuthenticator
internal import Foundation
internal import JOSE

/// A phone's folder: the SDK's files, the owner's login and the push token.
struct PhoneStorage: Sendable {
    let folder: URL

    private var ownerFile: URL { folder.appending(path: "owner") }
    private var tokenFile: URL { folder.appending(path: "push-token") }

    /// Locates the phone's folder in the folder of all phones.
    init(of login: String, in parent: URL) {
        // The login is hashed, because it may contain characters that file names cannot contain.
        let name = SHA256.hash(data: Data(login.lowercased().utf8)).prefix(12).hexadecimal
        folder = parent.appending(path: name, directoryHint: .isDirectory)
    }

    /// Returns the logins of the phones that are stored in a folder.
    static func owners(in parent: URL) -> [String] {
        // A missing folder contains no phones.
        let folders = (try? FileManager.default.contentsOfDirectory(at: parent, includingPropertiesForKeys: nil)) ?? []
        return folders.compactMap { try? String(contentsOf: $0.appending(path: "owner"), encoding: .utf8) }.sorted()
    }

    /// Creates the folder if necessary, and stores the login.
    func prepare(for login: String) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try Data(login.utf8).write(to: ownerFile, options: .atomic)
    }

    /// The current push token; `nil` if no token is stored yet.
    var pushToken: Data? { try? Data(contentsOf: tokenFile) }

    /// Creates and stores a new push token.
    func renewPushToken() throws -> Data {
        let token = Data(try SystemRandomSource().bytes(32))
        try token.write(to: tokenFile, options: .atomic)
        return token
    }

    func remove() throws {
        try FileManager.default.removeItem(at: folder)
    }

    /// Creates the phone's device authenticator, as an app does.
    func authenticator(
        of login: String, network: PhoneNetwork, clock: SandboxClock, owner: PhoneOwner, logger: PhoneLogger
    ) throws -> any DeviceAuthenticatorProtocol {
        let directory = folder.appending(path: "device", directoryHint: .isDirectory)
        let application = ApplicationConfig(
            applicationName: "Countersign Phone", applicationVersion: "1.0", applicationGroupId: "group.dev.countersign.phone")
        application.apsEnvironment = .development
        return try DeviceAuthenticatorBuilder(applicationConfig: application)
            .storageDirectory(directory)
            // Keys are stored in files even on Apple platforms, where tests have no Keychain entitlement. The cheap hash is enough, because
            // the PIN is public.
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
