#if canImport(Security)
import Foundation
public import Security

#if canImport(LocalAuthentication) && !os(tvOS)
public import LocalAuthentication
#endif

/// Items of Apple's Keychain: its types are ``Item`` and ``Search``.
public struct Keychain: Sendable {
    /// When an item can be read.
    public enum Accessibility: Sendable, Hashable, CaseIterable {
        /// While the device is unlocked.
        case unlocked
        /// While the device is unlocked; never leaves the device.
        case unlockedThisDeviceOnly
        /// After the first unlock since the start.
        case afterFirstUnlock
        /// After the first unlock since the start; never leaves the device.
        case afterFirstUnlockThisDeviceOnly
        /// While the device is unlocked, and only if it has a passcode.
        case whenPasswordSetThisDeviceOnly
        /// At any time. Apple deprecates it; it means ``afterFirstUnlock`` here.
        case always
        /// At any time. Apple deprecates it; it means ``afterFirstUnlockThisDeviceOnly`` here.
        case alwaysThisDeviceOnly

        /// Whether items of this kind may travel through iCloud Keychain.
        public var isSynchronizable: Bool {
            switch self {
            case .unlocked, .afterFirstUnlock, .always: true
            case .unlockedThisDeviceOnly, .afterFirstUnlockThisDeviceOnly, .whenPasswordSetThisDeviceOnly, .alwaysThisDeviceOnly: false
            }
        }

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
    }
}

/// An authentication of the person that the Keychain can use; `LAContext` is one.
public protocol KeychainAuthenticationContext: TokenAuthenticationContext {}

#if canImport(LocalAuthentication) && !os(tvOS)
// LAContext may be used from any thread, says its documentation; the SDK does not mark it.
extension LAContext: @retroactive @unchecked Sendable, KeychainAuthenticationContext {}
#endif
#endif
