import ArgumentParser
import AuthFoundation
import BrowserSignin
import Foundation
import JOSE
import OAuth2Auth

/// The issuer and the client, from flags or a property list.
struct ClientOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The issuer.", valueName: "url"))
    var issuer: String?

    @Option(name: .customLong("client-id"), help: ArgumentHelp("The client id.", valueName: "id"))
    var clientID: String?

    @Option(help: ArgumentHelp("The scopes to request, separated by spaces.", valueName: "scopes"))
    var scopes: String?

    @Option(
        help: ArgumentHelp(
            "A property list with the settings; by default Okta.plist in the working directory, unless --issuer is given.",
            valueName: "file"))
    var config: String?

    /// Returns the settings. Flags override the file.
    func configuration() throws -> OAuth2Client.Configuration {
        if let issuer, let clientID {
            let settings = ["issuer": issuer, "clientId": clientID, "scopes": scopes ?? "openid profile email offline_access"]
            return try OAuth2Client.Configuration(plist: OAuth2Client.PropertyListConfiguration(settings))
        }
        if issuer != nil || clientID != nil, config == nil {
            throw ValidationError("Pass both --issuer and --client-id, or a property list with --config.")
        }
        var list =
            try config.map { try OAuth2Client.PropertyListConfiguration(plist: URL(filePath: $0)) }
            ?? OAuth2Client.PropertyListConfiguration()
        if let scopes { list.scope = scopes.split(separator: " ").map(String.init) }
        var configuration = try OAuth2Client.Configuration(plist: list)
        if let clientID { configuration.clientId = clientID }
        return configuration
    }
}

struct VaultOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The folder of the credentials; by default $COUNTERSIGN_VAULT or a folder in ~/.local/share.", valueName: "folder")
    )
    var vault: String?

    var directory: URL { vault.map { URL(filePath: $0, directoryHint: .isDirectory) } ?? FileTokenStorage.defaultDirectory }

    /// Runs `body` with the credentials of this folder.
    func open<T>(_ body: () async throws -> T) async rethrows -> T {
        try await Credential.withStorage(FileTokenStorage(directory: directory), operation: body)
    }
}

struct BrowserUse: ParsableArguments {
    @Flag(name: .customLong("no-open"), help: "Show the address instead of opening the browser. Open the address on this machine.")
    var showsAddress = false

    @Option(help: ArgumentHelp("The time limit for the step in the browser, in seconds.", valueName: "seconds"))
    var timeout = 600.0

    func validate() throws {
        guard (1...86_400).contains(timeout) else { throw ValidationError("--timeout must be 1 to 86400 seconds.") }
    }

    /// Returns a `BrowserSignin` for a client, for signing in and out. With `json`, it writes an address that the user must open as JSON.
    /// Throws `OAuth2Error.redirectUriRequired` if the client has no redirect URI.
    @MainActor
    func browserSignin(_ client: OAuth2Client, json: Bool) throws -> BrowserSignin {
        let opener = showsAddress ? Self.show(json: json) : nil
        let timeout = timeout
        return BrowserSignin(
            loginFlow: try AuthorizationCodeFlow(client: client),
            logoutFlow: client.configuration.logoutRedirectUri == nil ? nil : SessionLogoutFlow(client: client)
        ) { _, _, _ in
            if opener == nil, !json { Terminal.note("Continue in the browser. Press Ctrl-C to cancel.") }
            return SystemBrowserProvider(clock: client.clock, timeout: timeout, opener: opener)
        }
    }

    /// Returns a function that shows an address instead of opening it.
    private static func show(json: Bool) -> @Sendable (URL) async throws -> Void {
        { page in
            if json {
                Terminal.write(json: ["status": "waiting", "url": .string(page.absoluteString)])
            } else {
                Terminal.note("Open this address in a browser on this machine, or press Ctrl-C to cancel:\n\n\(page.absoluteString)\n")
            }
        }
    }
}

extension OAuth2Client.Configuration {
    /// The default redirect URIs. Each use adds a free port of this machine.
    static let loopback = (signIn: URL(string: "http://127.0.0.1/callback"), signOut: URL(string: "http://127.0.0.1/"))
}
