public import Foundation

extension OAuth2Client {
    /// The settings of a client from `Okta.plist`, a dictionary, a JSON file, the environment or the command line.
    public struct PropertyListConfiguration: Sendable {
        /// The issuer. A bare host is completed with `https://`.
        public var issuerURL: URL

        /// The client identifier registered with the issuer.
        public var clientId: String

        /// The requested scopes.
        public var scope: [String]

        /// The URI to which the browser returns after a sign-in.
        public var redirectUri: URL?

        /// The URI to which the browser returns after a sign-out.
        public var logoutRedirectUri: URL?

        /// The client authentication method.
        public var authentication: ClientAuthentication

        /// Extra parameters for sign-ins: all other settings with string values; `nil` if there are none.
        public var additionalParameters: [String: any APIRequestArgument]?

        /// The URL of the discovery document; `nil` for the standard path below the issuer.
        public var discoveryURL: URL?

        /// Reads `Okta.plist` from the main bundle. On Linux, also from the folder of the executable and from the working directory.
        /// - Throws: ``PropertyListConfigurationError``
        public init() throws {
            guard let file = PropertyListFile.standard() else { throw PropertyListConfigurationError.defaultPropertyListNotFound }
            try self.init(plist: file)
        }

        /// Reads a property list file.
        /// - Throws: ``PropertyListConfigurationError``
        public init(plist fileURL: URL) throws {
            try self.init(settings: PropertyListFile.settings(at: fileURL), source: fileURL.lastPathComponent)
        }

        /// Reads a JSON file: an object with the same keys as the property list.
        /// - Throws: ``PropertyListConfigurationError``
        public init(json fileURL: URL) throws {
            let json: JSON
            do { json = try JSON(Data(contentsOf: fileURL)) } catch {
                throw PropertyListConfigurationError.cannotParsePropertyList(
                    ConfigurationProblem(text: "\(fileURL.lastPathComponent) can't be read as JSON."))
            }
            guard json.object != nil else { throw PropertyListConfigurationError.invalidPropertyList(url: fileURL) }
            try self.init(settings: json.claimPayload, source: fileURL.lastPathComponent)
        }

        /// Reads settings from a dictionary with the same keys as the property list.
        /// - Throws: ``PropertyListConfigurationError``
        public init(_ dictionary: [String: Any]) throws {
            try self.init(settings: dictionary, source: "the dictionary")
        }

        /// Reads settings from environment variables such as `COUNTERSIGN_CLIENT_ID`. Does not set ``additionalParameters``.
        /// - Parameters:
        ///   - environment: The variables, such as `ProcessInfo.processInfo.environment`.
        ///   - prefix: The prefix of the variable names. The rest of a name is a key of the property list in upper case, with `_` between
        ///     words. Other variables are ignored.
        /// - Throws: ``PropertyListConfigurationError``
        public init(environment: [String: String], prefix: String = "COUNTERSIGN_") throws {
            var settings: [String: Any] = [:]
            for (name, value) in environment where name.hasPrefix(prefix) {
                let key = name.dropFirst(prefix.count).lowercased()
                // Ignore unknown variables: the environment can contain secrets of other programs, which must not become parameters.
                if Setting.allKeys.contains(key) { settings[key] = value }
            }
            try self.init(settings: settings, source: "the environment (\(prefix)…)")
        }

        /// Reads settings from options of the form `--client-id=x` or `--client-id x`. Unknown options become ``additionalParameters``.
        /// Other arguments are ignored.
        /// - Throws: ``PropertyListConfigurationError``
        public init(commandLine arguments: [String]) throws {
            var settings: [String: Any] = [:]
            var rest = arguments[...]
            while let argument = rest.popFirst() {
                guard argument.hasPrefix("--") else { continue }
                let parts = argument.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
                guard let name = parts.first, !name.isEmpty else { continue }
                let value: String
                if parts.count == 2 {
                    value = parts[1]
                } else if let next = rest.first, !next.hasPrefix("--") {
                    value = next
                    rest = rest.dropFirst()
                } else {
                    continue
                }
                settings[name.replacing("-", with: "_")] = value
            }
            try self.init(settings: settings, source: "the command line")
        }

        /// The settings from the command line of this process.
        /// - Throws: ``PropertyListConfigurationError``
        public static var commandLine: PropertyListConfiguration {
            get throws { try PropertyListConfiguration(commandLine: Array(CommandLine.arguments.dropFirst())) }
        }

        private init(settings: [String: Any], source: String) throws {
            var reader = SettingsReader(settings: settings, source: source)
            issuerURL = try reader.issuer()
            clientId = try reader.required(.clientId)
            scope = try reader.requiredList(.scope)
            redirectUri = try reader.url(.redirectUri)
            logoutRedirectUri = try reader.url(.logoutRedirectUri)
            discoveryURL = try reader.url(.discoveryUrl)
            authentication = try reader.optional(.clientSecret).map(ClientAuthentication.clientSecret) ?? .none
            additionalParameters = reader.remaining()
        }
    }

    /// An error in the settings of a client.
    public enum PropertyListConfigurationError: Error, Sendable {
        /// `Okta.plist` does not exist.
        case defaultPropertyListNotFound
        /// The file cannot be read as a property list, or its JSON is not an object.
        case invalidPropertyList(url: URL)
        /// The settings are malformed. The nested error gives the reason.
        case cannotParsePropertyList(_ error: (any Error)?)
        /// Required settings are missing.
        case missingConfigurationValues
        /// A setting is missing or invalid.
        case invalidConfiguration(name: String, value: String?)
    }
}

extension OAuth2Client.PropertyListConfiguration {
    /// Throws `invalidConfiguration` unless the issuer is https, or http on this machine.
    static func checkIssuer(_ url: URL, name: String) throws {
        guard LoopbackRule.isAcceptable(url) else {
            throw OAuth2Client.PropertyListConfigurationError.invalidConfiguration(name: name, value: url.absoluteString)
        }
    }
}

/// A description of invalid settings and the remedy.
struct ConfigurationProblem: Error, ClientError, LocalizedError, Equatable {
    let text: String

    var errorDescription: String? { userText.description.text }
    var recoverySuggestion: String? { userText.suggestion?.text }
    var userText: ErrorText { .appSetup }
    var debugDescription: String { text }
}

extension OAuth2Client.PropertyListConfigurationError: LocalizedError, CustomDebugStringConvertible, ClientError {
    /// A sentence for the user, in the user's language.
    public var errorDescription: String? { userText.description.text }

    /// The next step for the user, in the user's language; `nil` if there is none.
    public var recoverySuggestion: String? { userText.suggestion?.text }

    package var userText: ErrorText { .appSetup }

    /// The setting and a remedy, for developers.
    public var debugDescription: String {
        switch self {
        case .defaultPropertyListNotFound:
            "There is no Okta.plist. Add it to the app's target; on Linux put it beside the executable or into the working directory."
        case .invalidPropertyList(let url):
            "\(url.lastPathComponent) can't be read as a property list. Check that it exists and is well formed."
        case .cannotParsePropertyList(let error): error.map(technicalText(of:)) ?? "The configuration can't be understood."
        case .missingConfigurationValues: "The configuration needs “issuer”, “clientId” and “scopes”."
        case .invalidConfiguration(let name, nil): "The configuration lacks “\(name)”. Add it."
        case .invalidConfiguration(let name, let value?): Self.explanation(name: name, value: value)
        }
    }

    private static func explanation(name: String, value: String) -> String {
        if PlaceholderRule.isPlaceholder(value) {
            return "“\(name)” is still the placeholder \(value). Put your own value in its place."
        }
        if name.lowercased().contains("issuer"), value.lowercased().hasPrefix("http://") {
            return "“\(name)” is \(value), which is not https. Plain http is allowed for loopback hosts (localhost, 127.0.0.1, ::1) only."
        }
        let fix =
            switch Setting.allCases.first(where: { $0.keys.contains(name) }) {
            case .issuer, .discoveryUrl: " Give a URL that begins with https://."
            case .redirectUri, .logoutRedirectUri: " Give a URL with a scheme, such as com.example.app:/callback."
            default: ""
            }
        return "“\(name)” has the value \(value), which can't be used.\(fix)"
    }
}
