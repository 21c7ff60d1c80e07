#if canImport(LocalAuthentication) && !os(tvOS)
public import LocalAuthentication
#endif
#if canImport(Security)
public import Security
#endif

extension Credential {
    /// The protection of a stored token. On platforms without a Keychain there are no options: every entry is encrypted.
    public enum Security {
        #if canImport(Security)
        /// The condition under which the Keychain item is readable.
        case accessibility(_ option: Keychain.Accessibility)
        /// The user authentication that is required to read the item.
        case accessControl(_ flags: SecAccessControlCreateFlags)
        /// An existing access control object.
        case accessControlRef(_ secRef: SecAccessControl)
        /// The Keychain access group that shares the item.
        case accessGroup(_ name: String)
        #if canImport(LocalAuthentication) && !os(tvOS)
        /// An authentication that the user has already completed.
        case context(_ obj: LAContext)
        #endif
        #endif

        /// The default options: the Keychain item is readable after the first unlock, on this device only.
        public static var standard: [Security] {
            get { settings.withLock { $0.standard } }
            set { settings.withLock { $0.standard = newValue } }
        }

        /// Whether iCloud Keychain may synchronize items if their accessibility allows it. The default is false.
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
// Safe because access controls are immutable and an `LAContext` may be used from any thread, according to its documentation.
extension Credential.Security: @unchecked Sendable {}
#else
extension Credential.Security: Sendable {}
#endif
