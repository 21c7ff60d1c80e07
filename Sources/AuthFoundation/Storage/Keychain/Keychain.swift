import Foundation

#if canImport(Security)
import Security
#endif
#if canImport(LocalAuthentication) && !os(tvOS)
public import LocalAuthentication
#endif

/// A namespace for access to Apple's Keychain. The types `Keychain.Item` and `Keychain.Search` exist on Apple's systems.
public struct Keychain: Sendable {
    /// The condition under which an item is readable. The raw values are those of the attribute `kSecAttrAccessible`.
    public enum Accessibility: String, Sendable, Hashable, CaseIterable {
        /// While the device is unlocked.
        case unlocked = "ak"
        /// While the device is unlocked. The item never leaves the device.
        case unlockedThisDeviceOnly = "aku"
        /// After the first unlock since startup.
        case afterFirstUnlock = "ck"
        /// After the first unlock since startup. The item never leaves the device.
        case afterFirstUnlockThisDeviceOnly = "cku"
        /// While the device is unlocked, and only if it has a passcode. The item never leaves the device.
        case whenPasswordSetThisDeviceOnly = "akpu"
        /// Always. Deprecated by Apple; treated as ``afterFirstUnlock``.
        case always = "dk"
        /// Always. Deprecated by Apple; treated as ``afterFirstUnlockThisDeviceOnly``.
        case alwaysThisDeviceOnly = "dku"

        /// Whether iCloud Keychain can synchronize such items.
        public var isSynchronizable: Bool {
            switch self {
            case .unlocked, .afterFirstUnlock, .always: true
            case .unlockedThisDeviceOnly, .afterFirstUnlockThisDeviceOnly, .whenPasswordSetThisDeviceOnly, .alwaysThisDeviceOnly: false
            }
        }

        /// The accessibility of an item that is readable under the same condition, and never leaves the device.
        var onThisDeviceOnly: Accessibility {
            switch self {
            case .unlocked, .unlockedThisDeviceOnly: .unlockedThisDeviceOnly
            case .whenPasswordSetThisDeviceOnly: .whenPasswordSetThisDeviceOnly
            case .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly, .always, .alwaysThisDeviceOnly: .afterFirstUnlockThisDeviceOnly
            }
        }

        #if canImport(Security)
        var attribute: CFString {
            switch self {
            case .unlocked: kSecAttrAccessibleWhenUnlocked
            case .unlockedThisDeviceOnly: kSecAttrAccessibleWhenUnlockedThisDeviceOnly
            case .afterFirstUnlock, .always: kSecAttrAccessibleAfterFirstUnlock
            case .afterFirstUnlockThisDeviceOnly, .alwaysThisDeviceOnly: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
            case .whenPasswordSetThisDeviceOnly: kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly
            }
        }

        init?(attribute: String) {
            guard let known = Self.allCases.first(where: { $0.attribute as String == attribute }) else { return nil }
            self = known
        }
        #endif
    }
}

/// A user authentication that the Keychain can use, such as `LAContext`.
public protocol KeychainAuthenticationContext: TokenAuthenticationContext {}

#if canImport(LocalAuthentication) && !os(tvOS)
// Safe because an `LAContext` may be used from any thread, according to its documentation; the SDK does not declare it.
extension LAContext: @retroactive @unchecked Sendable, KeychainAuthenticationContext {}
#endif
