package import Delivery
internal import IdentityCore
package import Logging

/// The lists of breached passwords that new passwords are compared with: the section `breached_passwords` of the org file.
package struct BreachedPasswordSettings: Sendable, Equatable {
    /// A sorted file of SHA-1 digests, or of their first 10 to 40 digits; `nil` for none.
    package var file: String?
    /// The address of a k-anonymity range endpoint before the prefix; `nil` for none.
    package var rangeURL: String?
    /// The timeout of the endpoint in seconds, 1 to 10. After a timeout the password is accepted.
    package var timeout: Int

    /// Creates settings.
    package init(file: String? = nil, rangeURL: String? = nil, timeout: Int = 2) {
        self.file = file
        self.rangeURL = rangeURL
        self.timeout = timeout
    }

    /// Returns the check that looks passwords up; it connects at the first lookup.
    ///
    /// - Parameter logger: Where failures are logged.
    /// - Returns: The check; `nil` if there are no lists.
    /// - Throws: `BreachedPasswordError` if the file can't be read or the address is invalid.
    package func makeCheck(logger: Logger) throws -> BreachedPasswordCheck? {
        guard file != nil || rangeURL != nil else { return nil }
        return try BreachedPasswordCheck(
            file: file.map { path in try BreachedPasswordFile(path: path) }, rangeURL: rangeURL, timeout: .seconds(timeout), logger: logger)
    }
}

/// Adapts a check to the engine's protocol.
package struct BreachedPasswordLists: BreachedPasswordSource {
    private let check: BreachedPasswordCheck

    /// Wraps a check.
    package init(_ check: BreachedPasswordCheck) { self.check = check }

    /// Looks up a digest; see `BreachedPasswordCheck.contains(sha1:)`.
    package func contains(sha1: [UInt8]) async -> Bool { await check.contains(sha1: sha1) }
}
