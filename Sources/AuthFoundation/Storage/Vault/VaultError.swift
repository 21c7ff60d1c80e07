public import Foundation

/// An error of the encrypted vault. It names the affected entry and contains no secret. Two errors are equal if their codes and entries are
/// equal.
public struct VaultError: Error, LocalizedError, CustomDebugStringConvertible, ClientError, Sendable, Equatable {
    /// An extensible error code.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The name of the code.
        public let rawValue: String

        /// Creates a code from its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// An entry is truncated, modified or foreign. Nothing was deleted.
        public static let damagedEntry = Code(rawValue: "damagedEntry")
        /// A newer version of this package wrote the entry. Nothing was changed.
        public static let newerFormat = Code(rawValue: "newerFormat")
        /// The vault is encrypted with another key.
        public static let wrongKey = Code(rawValue: "wrongKey")
        /// The vault has entries but its key is missing.
        public static let keyMissing = Code(rawValue: "keyMissing")
        /// The provided key does not have 32 bytes, or the key file is invalid.
        public static let invalidKey = Code(rawValue: "invalidKey")
        /// Other users can read the key or change the folder.
        public static let insecurePermissions = Code(rawValue: "insecurePermissions")
        /// Another process held the vault lock or the refresh lock for too long.
        public static let busy = Code(rawValue: "busy")
        /// A file system operation failed.
        public static let inaccessible = Code(rawValue: "inaccessible")
        /// The id is empty or too long for a file name.
        public static let invalidIdentifier = Code(rawValue: "invalidIdentifier")
    }

    /// The error code.
    public let code: Code

    /// The id of the token or the name of the file.
    public let entry: String

    /// The reason and a remedy, in English, for developers.
    public let message: String

    /// The underlying error.
    public let underlying: (any Error)?

    init(_ code: Code, entry: String, _ message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.entry = entry
        self.message = message
        self.underlying = underlying
    }

    /// A sentence for the user, in the user's language.
    public var errorDescription: String? { userText.description.text }

    /// The next step for the user, in the user's language; `nil` if there is none.
    public var recoverySuggestion: String? { userText.suggestion?.text }

    package var userText: ErrorText {
        switch code {
        case .damagedEntry: .storedDamaged
        case .newerFormat: .storedByNewerApp
        case .invalidKey, .invalidIdentifier: .appSetup
        case .insecurePermissions:
            ErrorText(
                "Your saved sign-in is not protected on this device.",
                de: "Ihre gespeicherte Anmeldung ist auf diesem Gerät nicht geschützt.", next: .contactSupport)
        case .busy:
            ErrorText(
                "Your saved sign-in is in use right now.", de: "Ihre gespeicherte Anmeldung wird gerade verwendet.", next: .tryAgain)
        case .inaccessible:
            ErrorText(
                "Your sign-in could not be read or saved on this device.",
                de: "Ihre Anmeldung konnte auf diesem Gerät nicht gelesen oder gespeichert werden.", next: .checkSpace)
        default: .storedUnreadable
        }
    }

    /// The message, the code and the underlying error, for developers.
    public var debugDescription: String { technicalText(message, [code.rawValue], causedBy: underlying) }

    /// Whether the codes and the entries are equal.
    public static func == (left: VaultError, right: VaultError) -> Bool {
        left.code == right.code && left.entry == right.entry
    }
}
