#if canImport(Security)
import AuthFoundation
import Foundation

/// The sessions that the app and its extensions share.
enum SharedSessions {
    /// The Keychain access group: the team id, then the name in the entitlements.
    static let accessGroup = "ABCDE12345.com.example.shared"

    /// Call this at the start of the app, before the first use of `Credential`. Later sign-ins store their sessions in the group.
    static func use() {
        Credential.Security.standard = [.accessibility(.afterFirstUnlockThisDeviceOnly), .accessGroup(accessGroup)]
    }
}
#endif

#if canImport(Security)
import AuthFoundation
import Foundation

extension SharedSessions {
    /// Removes the sessions of an earlier installation. Call this in the app and in each extension, before the first use of `Credential`.
    @CredentialActor
    static func forgetEarlierInstallation() {
        let container = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: "group.com.example.app")
        guard let marker = container?.appending(path: "installation.json") else { return }
        Credential.tokenStorage = KeychainTokenStorage(
            earlierInstallation: .remove(marker: marker, accessGroups: [accessGroup]))
    }
}
#endif
