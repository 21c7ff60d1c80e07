import Crypto
import Foundation
import JOSE
import Testing

/// A test browser that keeps cookies, follows redirects within the server and fills in forms. It returns each response unchanged.
final class WireBrowser {
    let wire: WireClient
    /// Cookies by name, without the prefix `__Host-`.
    var cookies: [String: String] = [:]
    /// The prefix of a cookie that only the host itself can set (RFC 6265bis §4.1.3.2).
    static let hostPrefix = "__Host-"
    /// Headers that the browser sends with every request.
    var headers: [(String, String)] = []
    /// Every `Set-Cookie` header, as received.
    private(set) var setCookies: [String] = []

    init(_ wire: WireClient) { self.wire = wire }

    func get(_ target: String) async throws -> WireResponse { try keep(try await wire.get(target, headers: sent)) }

    func post(_ target: String, _ form: [String: String]) async throws -> WireResponse {
        try keep(try await wire.post(target, Form.encode(form), headers: sent))
    }

    private var sent: [(String, String)] {
        headers + (cookies.isEmpty ? [] : [("Cookie", cookieHeader)])
    }

    /// The `Cookie` header of the browser's requests.
    var cookieHeader: String {
        cookies.sorted { $0.key < $1.key }.map { "\(Self.hostPrefix)\($0.key)=\($0.value)" }.joined(separator: "; ")
    }

    private func keep(_ response: WireResponse) throws -> WireResponse {
        for (name, value) in response.headers where name.lowercased() == "set-cookie" {
            setCookies.append(value)
            let pair = try #require(value.split(separator: ";").first).split(separator: "=", maxSplits: 1).map(String.init)
            let name = try #require(pair.first)
            // Every cookie of the pages has the prefix, because the server's origin is https.
            try #require(name.hasPrefix(Self.hostPrefix) && value.hasSuffix("; Secure"), "\(value)")
            cookies[String(name.dropFirst(Self.hostPrefix.count))] = pair.count > 1 ? pair[1] : nil
        }
        return response
    }

    /// Follows redirects as long as they stay on the server.
    func follow(_ response: WireResponse) async throws -> WireResponse {
        var response = response
        for _ in 0..<5 {
            guard let location = response["Location"], location.hasPrefix("/") else { return response }
            response = try await get(location)
        }
        return response
    }

    /// Whether the browser has a cookie of a mailed link.
    var hasLink: Bool { cookies.keys.contains { $0.hasPrefix("link-") } }

    // MARK: - Pages

    /// Submits the form of a page whose address ends with a step, and follows the redirects.
    func submit(_ page: WireResponse, _ step: String, _ fields: [String: String] = [:]) async throws -> WireResponse {
        let form = try Self.form(page, step)
        let answer = try await post(form.action, form.fields.merging(fields) { $1 })
        #expect(answer.status == 303)
        return try await follow(answer)
    }

    /// Signs in on a page that asks for the user name and the password.
    func signIn(
        _ page: WireResponse, _ login: String = PushOrganization.jane, _ password: String = PushOrganization.janesPassword
    ) async throws -> WireResponse {
        try await submit(page, "password", ["username": login, "password": password])
    }

    /// Returns the address and the hidden fields of a form.
    static func form(_ page: WireResponse, _ step: String) throws -> (action: String, fields: [String: String]) {
        let forms = page.body.components(separatedBy: "<form ").dropFirst()
        let form = try #require(forms.first { $0.contains("/\(step)\"") }, "no form \(step) in \(page.status) \(page.body)")
        let text = try #require(form.components(separatedBy: "</form>").first)
        let action = try #require(text.firstMatch(of: /action="([^"]*)"/)?.1)
        var fields: [String: String] = [:]
        for match in text.matches(of: /<input type="hidden" name="([^"]*)" value="([^"]*)">/) { fields[String(match.1)] = String(match.2) }
        return (String(action), fields)
    }
}

/// A client that sends a browser to the authorize endpoint, in raw requests (Documentation/Protocol/OAuth.md §7).
struct WireRelyingParty: Sendable {
    static let verifier = "a-verifier-of-forty-three-characters-or-more-0123"
    static let challenge = Base64URL.encode(Array(SHA256.hash(data: Array(verifier.utf8))))

    static let browserApp = WireRelyingParty(id: "browser-app", redirectURI: "http://127.0.0.1:49152/callback")
    static let readingApp = WireRelyingParty(id: "reading-app", redirectURI: "https://reading.example.com/callback?source=id")
    static let webApp = WireRelyingParty(id: "web-app", redirectURI: "https://web.example.com/callback", secret: "web-app-secret-01234")
    static let legacyApp = WireRelyingParty(
        id: "legacy-app", redirectURI: "https://legacy.example.com/callback", secret: "legacy-app-secret-0123")
    static let pushingApp = WireRelyingParty(
        id: "pushing-app", redirectURI: "https://pushing.example.com/callback", secret: "pushing-app-secret-012")
    /// An app that requires a passkey.
    static let passkeyApp = WireRelyingParty(id: "passkey-app", redirectURI: "https://passkey.example.com/callback")
    static let staffApp = WireRelyingParty(
        id: "staff-web-app", redirectURI: "https://staff.example.com/callback", secret: "staff-app-secret-0123")

    var id: String
    var redirectURI: String
    var secret: String?
    var base = "/oauth2/default/v1"

    var issuer: String { RunningServer.origin + (base == "/oauth2/v1" ? "" : "/oauth2/default") }

    /// Returns the parameters of Documentation/Protocol/OAuth.md §7.1. An empty value in `changes` omits the parameter.
    func parameters(_ changes: [String: String] = [:]) -> [String: String] {
        [
            "client_id": id, "redirect_uri": redirectURI, "response_type": "code", "scope": "openid", "state": "some-state",
            "nonce": "some-nonce", "code_challenge": Self.challenge, "code_challenge_method": "S256",
        ].merging(changes) { $1 }.filter { !$0.value.isEmpty }
    }

    func authorizeURL(_ changes: [String: String] = [:]) -> String { "\(base)/authorize?" + Form.encode(parameters(changes)) }

    /// Begins a sign-in and follows to the first page.
    func begin(_ browser: WireBrowser, _ changes: [String: String] = [:]) async throws -> WireResponse {
        try await browser.follow(try await browser.get(authorizeURL(changes)))
    }

    /// Exchanges a code (Documentation/Protocol/OAuth.md §7.3).
    func exchange(_ code: String, _ wire: WireClient, _ changes: [String: String] = [:]) async throws -> WireResponse {
        let form = ["grant_type": "authorization_code", "code": code, "redirect_uri": redirectURI, "code_verifier": Self.verifier]
        var headers: [(String, String)] = []
        var client = ["client_id": id]
        if let secret {
            headers = [("Authorization", "Basic " + Data("\(id):\(secret)".utf8).base64EncodedString())]
            client = [:]
        }
        return try await wire.post(
            "\(base)/token", Form.encode(form.merging(client) { $1 }.merging(changes) { $1 }.filter { !$0.value.isEmpty }),
            headers: headers)
    }

    /// Returns the parameters that a response sends to the redirect URI.
    func answer(_ response: WireResponse) throws -> [String: String] {
        let location = try #require(response["Location"], "\(response.status) \(response.body)")
        try #require(location.hasPrefix(redirectURI), "\(location)")
        return try Self.parameters(location.dropFirst(redirectURI.count + 1))
    }

    /// Returns the code of a response, after checking its state and issuer.
    func code(_ response: WireResponse) throws -> String {
        let answer = try answer(response)
        #expect(Set(answer.keys) == ["code", "state", "iss"], "\(answer)")
        #expect(answer["state"] == "some-state")
        #expect(answer["iss"] == issuer)
        return try #require(answer["code"])
    }

    /// Returns the error of a response, after checking its issuer.
    func error(_ response: WireResponse) throws -> String {
        let answer = try answer(response)
        #expect(answer["iss"] == issuer)
        #expect(answer["error_description"]?.last == ".")
        return try #require(answer["error"])
    }

    static func parameters(_ text: Substring) throws -> [String: String] {
        var all: [String: String] = [:]
        for pair in text.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            #expect(all[parts[0]] == nil, "\(parts[0]) twice")
            all[parts[0]] = parts[1].removingPercentEncoding
        }
        return all
    }
}
