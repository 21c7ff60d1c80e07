public import AuthFoundation
public import Foundation

/// The parameters of a redirect (RFC 6749 §4.1.2).
/// Check them in this order: redirect URI and state (the initializer), then the issuer, then the code.
struct AuthorizationResponse: Sendable {
    private let url: URL
    private let values: [String: String]

    /// Reads a redirect.
    /// - Parameters:
    ///   - redirectUri: The expected redirect URI; `nil` skips the check.
    ///   - state: The `state` that the sign-in sent.
    /// - Throws: `OAuth2Error.redirectUri(_:reason:)` if the redirect URI or the state differs.
    init(_ url: URL, redirectUri: URL?, state: String) throws {
        self.url = url
        if let redirectUri { try Self.check(url, against: redirectUri) }
        values = try Self.values(of: url)
        guard values["state"] == state else { throw OAuth2Error.redirectUri(url.withoutQuery, reason: .state(values["state"])) }
    }

    /// Checks that the response comes from the expected server (RFC 9207 §2.4).
    /// - Throws: ``AuthorizationIssuerError`` if the issuer differs, or if it is missing although the server announces it.
    func checkIssuer(_ provider: OpenIdConfiguration) throws {
        let announced = provider.json["authorization_response_iss_parameter_supported"]?.bool == true
        guard let issuer = values["iss"] ?? (announced ? "" : nil) else { return }
        guard issuer == provider.issuer.absoluteString else {
            throw AuthorizationIssuerError(expected: provider.issuer, found: values["iss"])
        }
    }

    /// Returns the authorization code.
    /// - Throws: `OAuth2ServerError` if the redirect reports an error; `OAuth2Error.redirectUri(_:reason:)` if there is no code.
    func code() throws -> String {
        try checkError()
        guard let code = values["code"], !code.isEmpty else {
            throw OAuth2Error.redirectUri(url.withoutQuery, reason: .codeRequired)
        }
        return code
    }

    /// Throws an `OAuth2ServerError` if the redirect reports an error.
    func checkError() throws {
        guard let error = values["error"] else { return }
        let more = values.filter { !["error", "error_description", "state", "iss"].contains($0.key) }
        throw OAuth2ServerError(code: error, description: values["error_description"], additionalValues: more)
    }

    static func check(_ url: URL, against expected: URL) throws {
        let scheme = url.scheme?.lowercased()
        guard scheme == expected.scheme?.lowercased() else { throw OAuth2Error.redirectUri(url.withoutQuery, reason: .scheme(url.scheme)) }
        guard Place(url) == Place(expected) else { throw OAuth2Error.redirectUri(url.withoutQuery, reason: .hostOrPath) }
    }

    /// The user, host, port and path of a URL. Browsers add the path "/" to http and https URLs without a path.
    private struct Place: Equatable {
        let host: String
        let port: Int?
        let path: String
        let user: String?

        init(_ url: URL) {
            let isWeb = ["http", "https"].contains(url.scheme?.lowercased())
            host = url.host()?.lowercased() ?? ""
            port = url.port ?? (isWeb ? (url.scheme?.lowercased() == "http" ? 80 : 443) : nil)
            path = isWeb && url.path().isEmpty ? "/" : url.path()
            user = url.user()
        }
    }

    /// Reads the query parameters. Each parameter may occur only once (RFC 6749 §3.1).
    private static func values(of url: URL) throws -> [String: String] {
        let query = URLComponents(url: url, resolvingAgainstBaseURL: false)?.percentEncodedQuery ?? ""
        var values: [String: String] = [:]
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
                $0.replacing("+", with: " ").removingPercentEncoding
            }
            guard let name = parts[0], let value = parts.count > 1 ? parts[1] : "", values.updateValue(value, forKey: name) == nil else {
                throw OAuth2Error.redirectUri(url.withoutQuery, reason: .invalid)
            }
        }
        return values
    }
}

/// Reports that the redirect comes from another server than the expected one, or does not name its issuer (RFC 9207).
/// This check prevents mix-up attacks, in which one server's code is sent to another server.
public struct AuthorizationIssuerError: Error, LocalizedError, CustomDebugStringConvertible, ClientError, Equatable, Sendable {
    /// The expected issuer.
    public let expected: URL

    /// The issuer in the redirect; `nil` if the redirect names none.
    public let found: String?

    /// A sentence for the user, in the user's language.
    public var errorDescription: String? { userText.description.text }

    /// The next step for the user, in the user's language; `nil` if there is none.
    public var recoverySuggestion: String? { userText.suggestion?.text }

    package var userText: ErrorText {
        ErrorText(
            "The sign-in was answered by an unexpected service.", de: "Die Anmeldung wurde von einem unerwarteten Dienst beantwortet.",
            next: .signInAgain)
    }

    /// The expected and the found issuer, for developers.
    public var debugDescription: String {
        "The answer to the sign-in is from \(found.map { "“\($0)”" } ?? "an unnamed server") and not from \(expected.absoluteString). Sign in again."
    }
}

extension URL {
    /// Returns the authorization code of a redirect (RFC 6749 §4.1.2).
    /// - Parameters:
    ///   - state: The `state` that the sign-in sent.
    ///   - configuration: The client's configuration, whose redirect URI must match; `nil` skips this check.
    /// - Throws: `OAuth2Error.redirectUri(_:reason:)` if the redirect URI or the state differs, or if there is no code;
    ///   `OAuth2Error.redirectUriRequired` if the configuration has no redirect URI; `OAuth2ServerError` if the redirect reports an error.
    public func authorizationCode(state: String, configuration: OAuth2Client.Configuration?) throws -> String {
        if let configuration, configuration.redirectUri == nil { throw OAuth2Error.redirectUriRequired }
        return try AuthorizationResponse(self, redirectUri: configuration?.redirectUri, state: state).code()
    }

    /// The URL without query and fragment, so that a code in an error does not reach a log.
    var withoutQuery: URL {
        var components = URLComponents(url: self, resolvingAgainstBaseURL: false)
        components?.query = nil
        components?.fragment = nil
        return components?.url ?? self
    }
}
