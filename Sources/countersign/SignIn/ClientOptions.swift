import ArgumentParser
import AuthFoundation
import Foundation

/// The issuer and the client, from flags or a property list.
struct ClientOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The issuer.", valueName: "url"))
    var issuer: String?

    @Option(name: .customLong("client-id"), help: ArgumentHelp("The client id.", valueName: "id"))
    var clientID: String?

    @Option(help: ArgumentHelp("What to ask for, separated by spaces.", valueName: "scopes"))
    var scopes: String?

    @Option(help: ArgumentHelp("A property list with the settings; without it and --issuer, Okta.plist here.", valueName: "file"))
    var config: String?

    /// Returns the settings. Flags override the file.
    func configuration() throws -> OAuth2Client.Configuration {
        if let issuer, let clientID {
            let settings = ["issuer": issuer, "clientId": clientID, "scopes": scopes ?? "openid profile email offline_access"]
            return try OAuth2Client.Configuration(plist: OAuth2Client.PropertyListConfiguration(settings))
        }
        if issuer != nil || clientID != nil, config == nil {
            throw ValidationError("Give both --issuer and --client-id, or a property list with --config.")
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

/// The folder of the stored credentials.
struct VaultOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The folder of the credentials; by default $COUNTERSIGN_VAULT, else one in ~/.local/share.", valueName: "folder")
    )
    var vault: String?

    var directory: URL { vault.map { URL(filePath: $0, directoryHint: .isDirectory) } ?? FileTokenStorage.defaultDirectory }

    /// Runs code with the credentials of this folder.
    func open<T>(_ body: () async throws -> T) async rethrows -> T {
        try await Credential.withStorage(FileTokenStorage(directory: directory), operation: body)
    }
}
