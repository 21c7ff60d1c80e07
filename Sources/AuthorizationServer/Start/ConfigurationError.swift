internal import StoreSQLite

/// A configuration that cannot be used; it names the key and what to do.
public struct ConfigurationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The key, as the command line spells it: `tls-certificate`.
    public var key: String
    /// What is wrong, and what to do.
    public var message: String

    /// Makes an error.
    public init(key: String, message: String) {
        self.key = key
        self.message = message
    }

    /// The key and the message.
    public var description: String { "\(key): \(message)" }
}

extension ConfigurationError {
    /// Names the key of a file or folder that `FileProtection` refuses.
    static func refusingUnsafe<Result>(
        _ key: String, _ body: () throws(FileProtection.Unsafe) -> Result
    ) throws(ConfigurationError) -> Result {
        do {
            return try body()
        } catch {
            throw ConfigurationError(key: key, message: error.message)
        }
    }
}
