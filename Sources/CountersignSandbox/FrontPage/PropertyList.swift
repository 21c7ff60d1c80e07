internal import Foundation
internal import IdentityCore

/// The `Okta.plist` of an application: the settings with which an app signs users in to this sandbox.
struct PropertyList: Sendable {
    /// The keys and values in the order of the file.
    let settings: [(key: String, value: String)]

    /// Creates the settings of an application. `scopes` are the custom scopes of the issuer `default`, for applications that act on their
    /// own behalf.
    init(_ application: Application, at origin: URL, scopes: [String]) {
        let usesOrgServer = !application.grantedAPIScopes.isEmpty
        var scope = ["openid"] + (usesOrgServer ? application.grantedAPIScopes : ["profile", "email"])
        if application.grantTypes == ["client_credentials"] {
            scope = scopes
        } else if application.grantTypes.contains("refresh_token"), !usesOrgServer {
            scope.append("offline_access")
        }
        var settings = [
            ("issuer", usesOrgServer ? origin.absoluteString : origin.appending(path: "oauth2/default").absoluteString),
            ("clientId", application.id),
        ]
        if let secret = application.secret { settings.append(("clientSecret", secret)) }
        settings.append(("scopes", scope.joined(separator: " ")))
        if let uri = Self.preferred(application.redirectURIs) { settings.append(("redirectUri", uri)) }
        if let uri = Self.preferred(application.postLogoutRedirectURIs) { settings.append(("logoutRedirectUri", uri)) }
        self.settings = settings
    }

    /// Returns the redirect URI that reopens an app on Apple platforms: one with a custom scheme if there is any.
    private static func preferred(_ uris: [String]) -> String? { uris.first { !$0.lowercased().hasPrefix("http") } ?? uris.first }

    /// The file content in XML.
    var text: String {
        let lines = settings.map { "    <key>\($0.key)</key>\n    <string>\(Self.escaped($0.value))</string>\n" }
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">
            <dict>
            \(lines.joined())</dict>
            </plist>

            """
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}
