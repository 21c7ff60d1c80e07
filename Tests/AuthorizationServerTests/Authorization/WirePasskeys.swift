import CountersignSandbox
import Foundation
import JOSE
import Testing
import WebAuthn

/// An authenticator in software, which answers the pages as their script does.
struct WirePasskeys {
    var authenticator = SoftwareAuthenticator()
    private var random = SystemRandomNumberGenerator()

    /// Creates a passkey for the options of a page. Returns the value of the form's field.
    mutating func create(_ page: WireResponse) throws -> String {
        let json = try Self.options(page)
        let user = try #require(json["user"])
        let options = try CreationOptions(
            relyingParty: RelyingParty(id: Self.text(json["rp"]?["id"]), name: "", origins: [RunningServer.origin]),
            userHandle: Base64URL.decode(Self.text(user["id"])), userName: Self.text(user["name"]),
            userDisplayName: Self.text(user["displayName"]), challenge: Base64URL.decode(Self.text(json["challenge"])))
        let response = try authenticator.create(options, origin: RunningServer.origin, using: &random)
        return String(decoding: response.serialized(), as: UTF8.self)
    }

    /// Signs the challenge of a page. Returns the value of the form's field.
    mutating func sign(_ page: WireResponse) throws -> String {
        let json = try Self.options(page)
        return try sign(Base64URL.decode(Self.text(json["challenge"])), rpID: Self.text(json["rpId"]))
    }

    /// Signs a challenge. Returns the value of the form's field.
    mutating func sign(_ challenge: [UInt8], rpID: String) throws -> String {
        let options = try RequestOptions(relyingPartyID: rpID, challenge: challenge)
        return String(decoding: try authenticator.get(options, origin: RunningServer.origin).serialized(), as: UTF8.self)
    }

    /// Returns the WebAuthn options of a page.
    static func options(_ page: WireResponse) throws -> JSONValue {
        let attribute = try #require(page.body.firstMatch(of: /data-options="([^"]*)"/)?.1, "\(page.body)")
        let text = attribute.replacing("&quot;", with: "\"").replacing("&#39;", with: "'").replacing("&amp;", with: "&")
        return try JSONValue(parsing: Array(text.utf8))
    }

    private static func text(_ value: JSONValue?) throws -> String { try #require(value?.stringValue) }
}
