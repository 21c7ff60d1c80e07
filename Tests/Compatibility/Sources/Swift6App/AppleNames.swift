#if canImport(Security)
import AuthFoundation
import DeviceAuthenticator
import Foundation
import Security

// Names that exist on Apple's systems only. `make apple` compiles this file.

func keychain(_ search: Keychain.Search, _ found: inout Keychain.Search.Result) throws {
    _ = (search.account, search.service, search.server, search.accessGroup)
    found.accessibility = .afterFirstUnlock
    found.synchronizable = false
    found.accessControl = nil
    if let accessibility = Keychain.Accessibility(rawValue: "ck") { _ = accessibility.rawValue as Keychain.Accessibility.RawValue }
    let item = Keychain.Item(account: "account", service: "service", accessibility: .unlockedThisDeviceOnly, value: Data())
    try item.save()
    _ = try search.get(prompt: "Sign in").value
    _ = try search.list().map(\.account)
}

func security(_ token: Token) throws {
    try Credential.store(
        token, security: [.accessibility(.whenPasswordSetThisDeviceOnly), .accessControl(.userPresence), .accessGroup("group")])
    _ = KeychainTokenStorage()
    do { _ = try Credential.with(id: "id", prompt: "Sign in") } catch let error as KeychainError where error.isLocked {}
}

/// A storage of the app.
final class AppStorage: OktaSecureStorageProtocol {
    var stored: [String: Data] = [:]

    func set(data: Data, forKey key: String, behindBiometrics: Bool, accessGroup: String?, accessibility: CFString?) throws {
        stored[key] = data
    }

    func getData(key: String, biometricPrompt prompt: String?, accessGroup: String?) throws -> Data { stored[key] ?? Data() }
}
#endif
