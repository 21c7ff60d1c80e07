public import Delivery
public import IdentityEngine
public import Logging

/// Which lists of breached passwords new passwords are compared with: the section `breached_passwords` of the org file. A value.
public struct BreachedPasswordSettings: Sendable, Equatable {
    /// A sorted file of SHA-1 digests, or of their first 10 to 40 digits; `nil` for none.
    public var file: String?
    /// The address of a k-anonymity range endpoint before the prefix; `nil` for none.
    public var rangeURL: String?
    /// Seconds that the endpoint may take, 1 to 10. Then the password is taken.
    public var timeout: Int

    /// Names lists.
    public init(file: String? = nil, rangeURL: String? = nil, timeout: Int = 2) {
        self.file = file
        self.rangeURL = rangeURL
        self.timeout = timeout
    }

    /// What looks passwords up; it connects at the first question.
    ///
    /// - Parameter logger: Where failures are logged.
    /// - Returns: The check; `nil` if there are no lists.
    /// - Throws: `BreachedPasswordError` if the file can't be read or the address will not do.
    public func makeCheck(logger: Logger) throws -> BreachedPasswordCheck? {
        guard file != nil || rangeURL != nil else { return nil }
        return try BreachedPasswordCheck(
            file: file.map { path in try BreachedPasswordFile(path: path) }, rangeURL: rangeURL, timeout: .seconds(timeout), logger: logger)
    }
}

/// Hands the engine's questions to a check.
public struct BreachedPasswordLists: BreachedPasswordSource {
    private let check: BreachedPasswordCheck

    /// Wraps a check.
    public init(_ check: BreachedPasswordCheck) { self.check = check }

    /// Looks a digest up; see `BreachedPasswordCheck.contains(sha1:)`.
    public func contains(sha1: [UInt8]) async -> Bool { await check.contains(sha1: sha1) }
}
