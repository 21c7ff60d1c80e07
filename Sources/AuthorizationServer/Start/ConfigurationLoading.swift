internal import Configuration
internal import Foundation
internal import JOSE
internal import ServerHTTP
internal import StorePostgreSQL
internal import StoreSQLite

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension AuthorizationServer.Configuration {
    /// Loads a configuration. Missing keys keep their defaults. The command line overrides the environment, which overrides the org file.
    ///
    /// The keys are `host`, `port`, `public-origin`, `tls-certificate`, `tls-key`, `data`, `database` (a URL of PostgreSQL),
    /// `database-password-file`, `master-key`, `master-key-file`, `trusted-proxies` (comma-separated), `max-body-bytes`,
    /// `max-header-bytes`, `max-connections`, `max-connections-per-address`, `idle-timeout` and `shutdown-delay` (seconds),
    /// `hashing-width`, `log-level`, `log-format` (`text` or `json`), `metrics-host` and `metrics-port`. Environment variables are in
    /// upper case, with `_` for `-` and the prefix `COUNTERSIGN_`.
    /// - Parameter file: The values of the org file's section `server`, by key.
    /// - Throws: ``ConfigurationError`` with the key and the expected value.
    package init(commandLine: [String: String], environment: [String: String] = [:], file: [String: String] = [:]) throws {
        try Self.refuseUnknownKeys(in: file)
        let values = Values(commandLine: commandLine, environment: environment, file: file)
        self.init()
        host = values["host"] ?? host
        port = try values.number("port", 0...65_535) ?? port
        publicOrigin = try values["public-origin"].map(Self.origin)
        tls = try Self.tls(certificate: values["tls-certificate"], key: values["tls-key"])
        dataDirectory = values["data"] ?? dataDirectory
        database = try values.secret("database").map { try Self.database($0, isVisible: commandLine["database"] != nil) }
        databasePassword = values["database-password-file"].map { .file($0) }
        masterKey = try Self.masterKey(text: values.secret("master-key"), file: values["master-key-file"])
        trustedProxies = try values["trusted-proxies"].map(Self.networks) ?? []
        limits.bodyBytes = try values.number("max-body-bytes", 1_024...1_048_576) ?? limits.bodyBytes
        limits.headerBytes = try values.number("max-header-bytes", 1_024...1_048_576) ?? limits.headerBytes
        limits.connections = try values.number("max-connections", 1...1_000_000) ?? limits.connections
        limits.connectionsPerAddress =
            try values.number("max-connections-per-address", 1...1_000_000) ?? limits.connectionsPerAddress
        if let seconds = try values.number("idle-timeout", 1...3_600) { limits.idleTimeout = .seconds(seconds) }
        if let seconds = try values.number("shutdown-delay", 0...300) { shutdownDelay = .seconds(seconds) }
        hashingWidth = try values.number("hashing-width", 1...64) ?? hashingWidth
        logLevel = try values["log-level"].map(Self.level) ?? logLevel
        logsJSON = try values["log-format"].map(Self.isJSON) ?? logsJSON
        metricsHost = values["metrics-host"] ?? metricsHost
        metricsPort = try values.number("metrics-port", 0...65_535)
    }

    private static let keys: Set<String> = [
        "host", "port", "public-origin", "tls-certificate", "tls-key", "data", "database", "database-password-file", "master-key",
        "master-key-file", "trusted-proxies",
        "max-body-bytes", "max-header-bytes", "max-connections", "max-connections-per-address", "idle-timeout", "hashing-width",
        "log-level", "log-format", "metrics-host", "metrics-port", "shutdown-delay",
    ]

    private static func refuseUnknownKeys(in file: [String: String]) throws {
        guard let unknown = file.keys.sorted().first(where: { !keys.contains($0) }) else { return }
        throw ConfigurationError(key: unknown, message: "There is no such key. Known are: \(keys.sorted().joined(separator: ", ")).")
    }

    private static func origin(_ text: String) throws -> String {
        let isWeb = text.hasPrefix("https://") || text.hasPrefix("http://")
        let rest = text.split(separator: "/", omittingEmptySubsequences: false).dropFirst(2)
        guard isWeb, rest.count == 1, rest.first?.isEmpty == false, !text.contains("?"), !text.contains("#") else {
            throw ConfigurationError(
                key: "public-origin", message: "'\(text)' is no origin. Write scheme and host without a path: https://id.example.com")
        }
        return text
    }

    static func database(_ text: String, isVisible: Bool) throws -> Secret {
        guard text.hasPrefix("postgres://") || text.hasPrefix("postgresql://") else {
            throw ConfigurationError(
                key: "database", message: "This is no URL of PostgreSQL. Write postgres://user@host/database; several hosts take a comma.")
        }
        guard !isVisible || !DatabaseURL(text).hasPassword else {
            throw ConfigurationError(
                key: "database",
                message: "Other users of this machine can read the arguments. Move the password to database-password-file or PGPASSWORD.")
        }
        return Secret(text)
    }

    private static func tls(certificate: String?, key: String?) throws -> TLS? {
        switch (certificate, key) {
        case (nil, nil): return nil
        case (let certificate?, let key?): return TLS(certificateChain: .file(certificate), privateKey: .file(key))
        case (_?, nil):
            throw ConfigurationError(key: "tls-key", message: "A certificate is set but no key. Name the file of its private key.")
        case (nil, _?): throw ConfigurationError(key: "tls-certificate", message: "A key is set but no certificate. Name its file.")
        }
    }

    private static func masterKey(text: String?, file: String?) throws -> MasterKeySource {
        switch (text, file) {
        case (nil, nil): return .dataDirectory
        case (let text?, nil): return .base64(Secret(text))
        case (nil, let file?): return .file(file)
        case (_?, _?): throw ConfigurationError(key: "master-key", message: "master-key-file is set as well. Keep one of them.")
        }
    }

    private static func networks(_ text: String) throws -> [TrustedNetwork] {
        try text.split(separator: ",").map { entry in
            let trimmed = String(entry.filter { $0 != " " })
            guard let network = TrustedNetwork(trimmed) else {
                throw ConfigurationError(
                    key: "trusted-proxies", message: "'\(trimmed)' is no address or network. Write 10.0.0.7 or 10.0.0.0/8.")
            }
            return network
        }
    }

    private static func isJSON(_ text: String) throws -> Bool {
        guard ["text", "json"].contains(text) else {
            throw ConfigurationError(key: "log-format", message: "'\(text)' is no format. Use text or json.")
        }
        return text == "json"
    }

    private static func level(_ text: String) throws -> String {
        let levels = ["trace", "debug", "info", "notice", "warning", "error", "critical"]
        guard levels.contains(text) else {
            throw ConfigurationError(key: "log-level", message: "'\(text)' is no level. Use one of: \(levels.joined(separator: ", ")).")
        }
        return text
    }
}

/// Merges the three sources; the first source with a key takes precedence.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
private struct Values {
    private let reader: ConfigReader

    init(commandLine: [String: String], environment: [String: String], file: [String: String]) {
        reader = ConfigReader(providers: [
            Self.provider("command line", commandLine),
            EnvironmentVariablesProvider(environmentVariables: environment),
            Self.provider("org file", file),
        ])
    }

    private static func provider(_ name: String, _ values: [String: String]) -> InMemoryProvider {
        let entries = values.map {
            (
                AbsoluteConfigKey(["countersign", $0.key]),
                ConfigValue(.string($0.value), isSecret: ["master-key", "database"].contains($0.key))
            )
        }
        return InMemoryProvider(name: name, values: Dictionary(entries, uniquingKeysWith: { first, _ in first }))
    }

    subscript(key: String) -> String? { reader.string(forKey: ConfigKey(["countersign", key])) }

    func secret(_ key: String) -> String? { reader.string(forKey: ConfigKey(["countersign", key]), isSecret: true) }

    func number(_ key: String, _ range: ClosedRange<Int>) throws -> Int? {
        guard let text = self[key] else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw ConfigurationError(
                key: key,
                message:
                    "'\(text)' is no number from \(range.lowerBound) to \(range.upperBound). Set it on the command line (--\(key)), in the environment or in the org file."
            )
        }
        return number
    }
}

/// The error for an invalid setting, with the key and the fix.
public struct ConfigurationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The key as the command line spells it, such as `tls-certificate`.
    public var key: String
    /// The problem and the fix.
    public var message: String

    /// Creates an error.
    public init(key: String, message: String) {
        self.key = key
        self.message = message
    }

    /// The key and the message.
    public var description: String { "\(key): \(message)" }
}

extension ConfigurationError {
    /// Converts an error of `FileProtection` to a ``ConfigurationError`` for the key.
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
