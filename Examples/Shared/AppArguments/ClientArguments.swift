public import AppSession
public import ArgumentParser
internal import AuthFoundation
internal import Crypto
internal import Foundation

/// The command-line options for the server, the client and the folder of the tokens.
///
/// `--sandbox` is sufficient if `countersign sandbox` runs on this machine. Without options, the app reads `Okta.plist`.
public struct ClientArguments: ParsableArguments {
    /// Whether to use a sandbox on this machine.
    @Flag(help: "Talk to `countersign sandbox` on this machine, as its client for this app.")
    public var sandbox = false

    /// The issuer; `nil` if the option is absent.
    @Option(help: ArgumentHelp("The issuer.", valueName: "url"))
    public var issuer: String?

    /// The client's id; `nil` if the option is absent.
    @Option(name: .customLong("client-id"), help: ArgumentHelp("The client id.", valueName: "id"))
    public var clientID: String?

    /// The scopes to request, separated by spaces; `nil` if the option is absent.
    @Option(help: ArgumentHelp("The scopes to request, separated by spaces.", valueName: "scopes"))
    public var scopes: String?

    /// The redirect URI of a sign-in; `nil` if the option is absent.
    @Option(name: .customLong("redirect-uri"), help: ArgumentHelp("Where a browser returns to after a sign-in.", valueName: "uri"))
    public var redirectURI: String?

    /// The redirect URI of a sign-out; `nil` if the option is absent.
    @Option(
        name: .customLong("logout-redirect-uri"),
        help: ArgumentHelp("The URI to which the browser returns after a sign-out.", valueName: "uri"))
    public var logoutRedirectURI: String?

    /// The file of a property list with the settings; `nil` if the option is absent.
    @Option(
        help: ArgumentHelp(
            "A property list with the settings; by default Okta.plist in the working directory, unless --issuer is given.",
            valueName: "file"))
    public var config: String?

    /// The folder of the credentials; `nil` if the option is absent.
    @Option(
        help: ArgumentHelp(
            "The folder of the credentials; by default $COUNTERSIGN_VAULT, else one of this issuer's and client's own in ~/.local/share.",
            valueName: "folder")
    )
    public var vault: String?

    /// Creates empty options.
    public init() {}

    /// Checks that options that depend on each other are given together.
    ///
    /// - Throws: `ValidationError` if only one of `--issuer` and `--client-id` is given without `--sandbox`.
    public func validate() throws {
        if !sandbox, (issuer == nil) != (clientID == nil) {
            throw ValidationError("Give both --issuer and --client-id, or --sandbox, or a property list with --config.")
        }
    }

    /// Returns the settings from the options.
    ///
    /// - Parameters:
    ///   - sandboxClient: The id of this app's client in the sandbox, for example `directauth-app`.
    ///   - usualScopes: The scopes to request without `--scopes`.
    ///   - more: Additional settings by property list key. Options override them.
    public func settings(
        sandboxClient: String, usualScopes: String = "openid profile email offline_access", more: [String: String] = [:]
    ) -> ClientSettings {
        var values = more
        values["issuer"] = issuer ?? (sandbox ? ClientSettings.sandboxIssuer : nil)
        values["clientId"] = clientID ?? (sandbox ? sandboxClient : nil)
        values["scopes"] = scopes ?? usualScopes
        if let redirectURI { values["redirectUri"] = redirectURI }
        if let logoutRedirectURI { values["logoutRedirectUri"] = logoutRedirectURI }
        return ClientSettings(
            values: values, file: config.map { URL(filePath: $0) }, scopes: scopes, redirectURI: redirectURI,
            logoutRedirectURI: logoutRedirectURI)
    }

    /// Runs code with the credentials of the vault.
    ///
    /// - Parameters:
    ///   - settings: The client's settings. The default vault belongs to this client.
    ///   - isolation: The actor of the code; by default the caller's actor.
    ///   - body: The code.
    /// - Returns: The result of the code.
    /// - Throws: The errors of the code.
    public func withVault<T>(
        of settings: ClientSettings, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> T
    ) async rethrows -> T {
        let folder = vaultFolder(of: settings)
        return try await Credential.withStorage(FileTokenStorage(directory: folder), isolation: isolation, operation: body)
    }

    /// Returns the folder of the credentials. Each client at each server has its own folder, because an app shows and sends the tokens of
    /// the default credential.
    func vaultFolder(
        of settings: ClientSettings, environment: [String: String] = ProcessInfo.processInfo.environment,
        usual: URL = FileTokenStorage.defaultDirectory
    ) -> URL {
        if let vault { return URL(filePath: vault, directoryHint: .isDirectory) }
        // With this variable, the folder is the default folder, which the variable determines.
        let isChosen = environment["COUNTERSIGN_VAULT"]?.isEmpty == false
        guard !isChosen, let configuration = try? settings.configuration() else { return usual }
        let name = Self.folderName(of: "\(configuration.issuerURL.absoluteString) \(configuration.clientId)")
        return usual.deletingLastPathComponent().appending(path: name, directoryHint: .isDirectory)
    }

    /// Returns a unique name of at most 200 characters for a text.
    private static func folderName(of text: String) -> String {
        let escaped = text.addingPercentEncoding(withAllowedCharacters: .alphanumerics)
        if let escaped, escaped.count <= 200 { return escaped }
        // The digest is in hexadecimal, because some file systems ignore case.
        let digest = SHA256.hash(data: Data(text.utf8)).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        return "\(escaped?.prefix(200 - 1 - digest.count) ?? "other")-\(digest)"
    }
}
