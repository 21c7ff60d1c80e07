import Foundation

#if canImport(os)
import os
#endif

/// A setting with all its accepted keys.
enum Setting: CaseIterable {
    case issuer, clientId, scope, redirectUri, logoutRedirectUri, clientSecret, discoveryUrl

    static let allKeys = Set(allCases.flatMap(\.keys))

    /// The accepted keys. Error messages name the first one.
    var keys: [String] {
        switch self {
        case .issuer: ["issuer", "issuer_url", "issuerUrl", "IssuerUrl"]
        case .clientId: ["clientId", "client_id", "ClientId"]
        case .scope: ["scopes", "scope", "Scope"]
        case .redirectUri: ["redirectUri", "redirect_uri", "RedirectUri"]
        case .logoutRedirectUri: ["logoutRedirectUri", "logout_redirect_uri", "LogoutRedirectUri"]
        case .clientSecret: ["clientSecret", "client_secret", "ClientSecret"]
        case .discoveryUrl: ["discoveryUrl", "discovery_url", "DiscoveryUrl"]
        }
    }
}

/// The rule that detects placeholders from documentation, such as `{yourOktaDomain}`.
enum PlaceholderRule {
    static func isPlaceholder(_ value: String) -> Bool {
        (value.contains("{") && value.contains("}")) || (value.contains("${") || (value.hasPrefix("<") && value.hasSuffix(">")))
    }

    /// Whether the whole value is a placeholder.
    static func isWholly(_ value: String) -> Bool {
        (value.hasSuffix("}") && (value.hasPrefix("{") || value.hasPrefix("${"))) || (value.hasPrefix("<") && value.hasSuffix(">"))
    }
}

/// A reader of settings. Each setting uses the first of its keys whose value is not an empty string.
struct SettingsReader {
    typealias Failure = OAuth2Client.PropertyListConfigurationError

    private var settings: [String: Any]
    private let source: String

    init(settings: [String: Any], source: String) {
        self.settings = settings
        self.source = source
    }

    mutating func optional(_ setting: Setting) throws -> String? {
        guard let (key, value) = take(setting) else { return nil }
        guard let text = value as? String else { throw Failure.cannotParsePropertyList(problem(key, "must be a string")) }
        let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !trimmed.isEmpty else { return nil }
        if setting == .clientSecret {
            // A secret can contain braces, and error messages must not contain the secret.
            guard !PlaceholderRule.isWholly(trimmed) else { throw Failure.invalidConfiguration(name: key, value: "{…}") }
        } else {
            guard !PlaceholderRule.isPlaceholder(trimmed) else { throw Failure.invalidConfiguration(name: key, value: trimmed) }
        }
        return trimmed
    }

    mutating func required(_ setting: Setting) throws -> String {
        guard let value = try optional(setting) else { throw missing(setting) }
        return value
    }

    mutating func requiredList(_ setting: Setting) throws -> [String] {
        guard let (key, value) = take(setting) else { throw missing(setting) }
        let words: [String]
        if let list = value as? [Any] {
            words = try list.map { element in
                guard let word = element as? String else {
                    throw Failure.cannotParsePropertyList(problem(key, "must be a list of strings"))
                }
                return word
            }
            .flatMap(\.whitespaceSeparated)
        } else if let text = value as? String {
            words = text.whitespaceSeparated
        } else {
            throw Failure.cannotParsePropertyList(problem(key, "must be a string or a list of strings"))
        }
        guard !words.isEmpty else { throw missing(setting) }
        if let placeholder = words.first(where: PlaceholderRule.isPlaceholder) {
            throw Failure.invalidConfiguration(name: key, value: placeholder)
        }
        return words
    }

    /// Returns the setting as a URL, or `nil` if it is missing. The URL must have a scheme and no characters that need escaping.
    mutating func url(_ setting: Setting) throws -> URL? {
        let key = writtenKey(of: setting)
        guard let text = try optional(setting) else { return nil }
        guard let url = URL(string: text, encodingInvalidCharacters: false), url.scheme?.isEmpty == false else {
            throw Failure.invalidConfiguration(name: key, value: text)
        }
        return url
    }

    /// Returns the issuer. Adds `https://` to a bare host, and logs this once.
    mutating func issuer() throws -> URL {
        let key = writtenKey(of: .issuer)
        var text = try required(.issuer)
        if !text.contains("://") {
            text = "https://\(text)"
            ConfigurationLog.once("“\(key)” in \(source) has no scheme; \(text) is used. Write it with https:// to be rid of this message.")
        }
        while text.hasSuffix("/") { text.removeLast() }
        guard let url = URL(string: text), url.host()?.isEmpty == false else { throw Failure.invalidConfiguration(name: key, value: text) }
        try OAuth2Client.PropertyListConfiguration.checkIssuer(url, name: key)
        return url
    }

    /// Returns the string values of all keys that are not settings; `nil` if there are none.
    func remaining() -> [String: any APIRequestArgument]? {
        let strings = settings.compactMapValues { $0 as? String }
        return strings.isEmpty ? nil : strings
    }

    private mutating func take(_ setting: Setting) -> (key: String, value: Any)? {
        let found = setting.keys.compactMap { key in settings[key].map { (key: key, value: $0) } }
        for key in setting.keys { settings[key] = nil }
        return found.first { !(($0.value as? String)?.isEmpty ?? false) } ?? found.first
    }

    /// Returns the key used for the setting, or the setting's first key if the setting is missing. Call this before `take(_:)`, which
    /// removes the key.
    private func writtenKey(of setting: Setting) -> String {
        setting.keys.first { settings[$0] != nil } ?? setting.keys[0]
    }

    private func missing(_ setting: Setting) -> Failure {
        .invalidConfiguration(name: setting.keys[0], value: nil)
    }

    private func problem(_ key: String, _ text: String) -> ConfigurationProblem {
        ConfigurationProblem(text: "“\(key)” in \(source) \(text).")
    }
}

enum PropertyListFile {
    static let name = "Okta.plist"

    /// Returns the file in the main bundle. On Linux, also searches the folder of the executable and the working directory.
    static func standard() -> URL? {
        if let url = Bundle.main.url(forResource: "Okta", withExtension: "plist") { return url }
        #if os(Linux)
        let folders = [
            Bundle.main.executableURL?.deletingLastPathComponent(), URL(filePath: FileManager.default.currentDirectoryPath),
        ]
        return first(in: folders.compactMap { $0 })
        #else
        return nil
        #endif
    }

    /// Returns the file in the first folder that contains it, or `nil` if none does.
    static func first(in folders: [URL]) -> URL? {
        folders.map { $0.appending(path: name) }.first { FileManager.default.fileExists(atPath: $0.path(percentEncoded: false)) }
    }

    static func settings(at url: URL) throws -> [String: Any] {
        guard let data = try? Data(contentsOf: url),
            let settings = try? PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any]
        else { throw OAuth2Client.PropertyListConfigurationError.invalidPropertyList(url: url) }
        return settings
    }
}

/// The log of settings that work but that the developer should correct. It is the system log if there is one, else standard error.
package enum ConfigurationLog {
    private static let said = Locked<Set<String>>([])

    /// Logs a message once per process. Returns whether it was logged by this call.
    @discardableResult
    package static func once(_ message: String) -> Bool {
        guard said.withLock({ $0.insert(message).inserted }) else { return false }
        #if canImport(os)
        Logger(subsystem: "countersign", category: "configuration").notice("\(message, privacy: .public)")
        #else
        FileHandle.standardError.write(Data("countersign: \(message)\n".utf8))
        #endif
        return true
    }
}
