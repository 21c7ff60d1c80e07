package import Delivery
internal import IdentityCore
package import Logging

/// The lists of breached passwords against which new passwords are checked: the section `breached_passwords` of the org file.
package struct BreachedPasswordSettings: Sendable, Equatable {
    /// The path of a sorted file of SHA-1 digests, or of their first 10 to 40 hexadecimal digits; `nil` for none.
    package var file: String?
    /// The URL of a k-anonymity range endpoint, without the prefix of a digest; `nil` for none.
    package var rangeURL: String?
    /// The timeout of the endpoint in seconds, 1 to 10. After a timeout, the password is accepted.
    package var timeout: Int

    package init(file: String? = nil, rangeURL: String? = nil, timeout: Int = 2) {
        self.file = file
        self.rangeURL = rangeURL
        self.timeout = timeout
    }

    /// Returns the check, or `nil` if no list is configured. The check connects at the first lookup.
    /// - Throws: `BreachedPasswordError` if the file cannot be read or the URL is invalid.
    package func makeCheck(logger: Logger) throws -> BreachedPasswordCheck? {
        guard file != nil || rangeURL != nil else { return nil }
        return try BreachedPasswordCheck(
            file: file.map { path in try BreachedPasswordFile(path: path) }, rangeURL: rangeURL, timeout: .seconds(timeout), logger: logger)
    }
}

/// Adapts `BreachedPasswordCheck` to the engine's protocol.
package struct BreachedPasswordLists: BreachedPasswordSource {
    private let check: BreachedPasswordCheck

    package init(_ check: BreachedPasswordCheck) { self.check = check }

    package func contains(sha1: [UInt8]) async -> Bool { await check.contains(sha1: sha1) }
}
