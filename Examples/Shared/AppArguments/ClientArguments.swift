public import AppSession
public import ArgumentParser
internal import AuthFoundation
internal import Crypto
internal import Foundation

/// Which server an app's terminal face talks to, as which client, and where it keeps its tokens.
///
/// `--sandbox` alone is enough where `countersign sandbox` runs; without any argument it is `Okta.plist`.
public struct ClientArguments: ParsableArguments {
    /// Whether to talk to a sandbox on this machine.
    @Flag(help: "Talk to `countersign sandbox` on this machine, as its client for this app.")
    public var sandbox = false

    /// The issuer.
    @Option(help: ArgumentHelp("The issuer.", valueName: "url"))
    public var issuer: String?

    /// The client's id.
    @Option(name: .customLong("client-id"), help: ArgumentHelp("The client id.", valueName: "id"))
    public var clientID: String?

    /// The scopes to request, separated by spaces.
    @Option(help: ArgumentHelp("What to ask for, separated by spaces.", valueName: "scopes"))
    public var scopes: String?

    /// Where a browser returns to after a sign-in.
    @Option(name: .customLong("redirect-uri"), help: ArgumentHelp("Where a browser returns to after a sign-in.", valueName: "uri"))
    public var redirectURI: String?

    /// Where a browser returns to after a sign-out.
    @Option(name: .customLong("logout-redirect-uri"), help: ArgumentHelp("Where it returns to after a sign-out.", valueName: "uri"))
    public var logoutRedirectURI: String?

    /// A property list with the settings.
    @Option(help: ArgumentHelp("A property list with the settings; without it and --issuer, Okta.plist here.", valueName: "file"))
    public var config: String?

    /// The folder of the credentials.
    @Option(
        help: ArgumentHelp(
            "The folder of the credentials; by default $COUNTERSIGN_VAULT, else one of this issuer's and client's own in ~/.local/share.",
            valueName: "folder")
    )
    public var vault: String?

    /// Nothing that was said.
    public init() {}

    /// Checks that what belongs together was said together.
    ///
    /// - Throws: `ValidationError`, which says what is missing.
    public func validate() throws {
        if !sandbox, (issuer == nil) != (clientID == nil) {
            throw ValidationError("Give both --issuer and --client-id, or --sandbox, or a property list with --config.")
        }
    }

    /// The settings that the arguments say.
    ///
    /// - Parameters:
    ///   - sandboxClient: The client that this app is in the sandbox, such as `directauth-app`.
    ///   - usualScopes: What to ask for unless `--scopes` says otherwise.
    ///   - more: Further settings by the keys of the property list, unless the arguments say otherwise.
    /// - Returns: The settings.
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

    /// Runs code whose credentials are those of the vault.
    ///
    /// - Parameters:
    ///   - settings: The settings of the client; the vault belongs to it unless another one is chosen.
    ///   - isolation: The actor that the code runs on: the caller's.
    ///   - body: The code.
    /// - Returns: What the code returns.
    /// - Throws: What the code throws.
    public func withVault<T>(
        of settings: ClientSettings, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> T
    ) async rethrows -> T {
        let folder = vaultFolder(of: settings)
        return try await Credential.withStorage(FileTokenStorage(directory: folder), isolation: isolation, operation: body)
    }

    /// Where the credentials are: an app shows and sends the tokens of the default one, and those of other servers and clients are none of
    /// its business.
    func vaultFolder(
        of settings: ClientSettings, environment: [String: String] = ProcessInfo.processInfo.environment,
        usual: URL = FileTokenStorage.defaultDirectory
    ) -> URL {
        if let vault { return URL(filePath: vault, directoryHint: .isDirectory) }
        // Then it is the usual one.
        let isChosen = environment["COUNTERSIGN_VAULT"]?.isEmpty == false
        guard !isChosen, let configuration = try? settings.configuration() else { return usual }
        let name = Self.folderName(of: "\(configuration.issuerURL.absoluteString) \(configuration.clientId)")
        return usual.deletingLastPathComponent().appending(path: name, directoryHint: .isDirectory)
    }

    /// A name that no other text has, of at most 200 characters.
    private static func folderName(of text: String) -> String {
        let escaped = text.addingPercentEncoding(withAllowedCharacters: .alphanumerics)
        if let escaped, escaped.count <= 200 { return escaped }
        // In hexadecimal: a disk may take two letters that differ in case for one.
        let digest = SHA256.hash(data: Data(text.utf8)).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        return "\(escaped?.prefix(200 - 1 - digest.count) ?? "other")-\(digest)"
    }
}
