public import Foundation

/// A failure of the encrypted file vault, which names the entry that it is about.
///
/// A `Sendable` value; two are equal if code and entry are. Shows no secret.
public struct VaultError: Error, LocalizedError, Sendable, Equatable {
    /// What went wrong, for programs. Further codes may come.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The code's name.
        public let rawValue: String

        /// A code by its name.
        ///
        /// - Parameter rawValue: The name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// An entry is cut off, changed, or not ours. Nothing was deleted.
        public static let damagedEntry = Code(rawValue: "damagedEntry")
        /// An entry was written by a newer version of this package. Nothing was changed.
        public static let newerFormat = Code(rawValue: "newerFormat")
        /// The vault was encrypted with another key.
        public static let wrongKey = Code(rawValue: "wrongKey")
        /// The vault has entries and its key is gone.
        public static let keyMissing = Code(rawValue: "keyMissing")
        /// The key given is not 32 bytes long, or its file holds something else.
        public static let invalidKey = Code(rawValue: "invalidKey")
        /// Others may read the key or change the folder.
        public static let insecurePermissions = Code(rawValue: "insecurePermissions")
        /// Another process kept the vault, or the right to refresh, for too long.
        public static let busy = Code(rawValue: "busy")
        /// The file system refused.
        public static let inaccessible = Code(rawValue: "inaccessible")
        /// The id is too long to name a file.
        public static let invalidIdentifier = Code(rawValue: "invalidIdentifier")
    }

    /// What went wrong.
    public let code: Code

    /// The id of the token, or the name of the file, that the error is about.
    public let entry: String

    /// What happened and what to do next, in a sentence or two.
    public let message: String

    /// The error below this one.
    public let underlying: (any Error)?

    init(_ code: Code, entry: String, _ message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.entry = entry
        self.message = message
        self.underlying = underlying
    }

    /// What happened and what to do next.
    public var errorDescription: String? { message }

    /// Whether code and entry are equal.
    ///
    /// - Parameters:
    ///   - left: An error.
    ///   - right: An error.
    /// - Returns: Whether code and entry are equal.
    public static func == (left: VaultError, right: VaultError) -> Bool {
        left.code == right.code && left.entry == right.entry
    }
}
