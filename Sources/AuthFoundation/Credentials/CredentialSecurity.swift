#if canImport(LocalAuthentication) && !os(tvOS)
public import LocalAuthentication
#endif
#if canImport(Security)
public import Security
#endif

extension Credential {
    /// How a stored token is protected, where the platform offers a choice.
    ///
    /// On platforms without a Keychain there are no options: the vault encrypts every entry.
    public enum Security {
        #if canImport(Security)
        /// When the Keychain item can be read.
        case accessibility(_ option: Keychain.Accessibility)
        /// What the person must do for the item to be read.
        case accessControl(_ flags: SecAccessControlCreateFlags)
        /// A ready-made access control.
        case accessControlRef(_ secRef: SecAccessControl)
        /// The Keychain access group that shares the item.
        case accessGroup(_ name: String)
        #if canImport(LocalAuthentication) && !os(tvOS)
        /// An authentication that the person has already made.
        case context(_ obj: LAContext)
        #endif
        #endif

        /// The options used when none are given: the Keychain item can be read after the first unlock, on this device only.
        public static var standard: [Security] {
            get { settings.withLock { $0.standard } }
            set { settings.withLock { $0.standard = newValue } }
        }

        /// Whether items may travel through iCloud Keychain if their accessibility allows it; false unless set.
        public static var isDefaultSynchronizable: Bool {
            get { settings.withLock { $0.isDefaultSynchronizable } }
            set { settings.withLock { $0.isDefaultSynchronizable = newValue } }
        }

        private struct Settings: Sendable {
            #if canImport(Security)
            var standard: [Security] = [.accessibility(.afterFirstUnlockThisDeviceOnly)]
            #else
            var standard: [Security] = []
            #endif
            var isDefaultSynchronizable = false
        }

        private static let settings = Locked(Settings())
    }
}

#if canImport(Security)
// Access controls never change after they are made, and an LAContext may be used from any thread, says its documentation.
extension Credential.Security: @unchecked Sendable {}
#else
extension Credential.Security: Sendable {}
#endif
