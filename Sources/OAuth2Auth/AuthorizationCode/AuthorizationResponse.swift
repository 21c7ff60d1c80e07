public import AuthFoundation
public import Foundation

/// What a redirect brought back (RFC 6749, 4.1.2).
///
/// It can be had in the order of the checks only: first that the redirect is the client's own, then that it answers this sign-in, then that it
/// is from the server that was asked, and only then what it says.
struct AuthorizationResponse: Sendable {
    private let url: URL
    private let values: [String: String]

    /// - Parameters:
    ///   - url: The URL that the browser was sent to.
    ///   - redirectUri: The URL that the server was given; nil if only the parameters are to be read.
    ///   - state: What the sign-in sent.
    /// - Throws: `OAuth2Error.redirectUri(_:reason:)` if it is another URL, or another sign-in's.
    init(_ url: URL, redirectUri: URL?, state: String) throws {
        self.url = url
        if let redirectUri { try Self.check(url, against: redirectUri) }
        values = try Self.values(of: url)
        guard values["state"] == state else { throw OAuth2Error.redirectUri(url.withoutQuery, reason: .state(values["state"])) }
    }

    /// Checks that the server that was asked has answered (RFC 9207, 2.4).
    ///
    /// - Throws: ``AuthorizationIssuerError`` if another has, or if this one says who it is at other times.
    func checkIssuer(_ provider: OpenIdConfiguration) throws {
        let announced = provider.json["authorization_response_iss_parameter_supported"] == .bool(true)
        guard let issuer = values["iss"] ?? (announced ? "" : nil) else { return }
        guard issuer == provider.issuer.absoluteString else {
            throw AuthorizationIssuerError(expected: provider.issuer, found: values["iss"])
        }
    }

    /// The code.
    ///
    /// - Throws: `OAuth2ServerError` if the server refused, `OAuth2Error.redirectUri(_:reason:)` if there is no code.
    func code() throws -> String {
        try checkError()
        guard let code = values["code"], !code.isEmpty else {
            throw OAuth2Error.redirectUri(url.withoutQuery, reason: .codeRequired)
        }
        return code
    }

    /// Checks that the server has not refused.
    ///
    /// - Throws: `OAuth2ServerError` if it has.
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

    /// Host, port and path. Browsers write a path for http and https where there is none.
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

    /// The parameters, each of which may be there once (RFC 6749, 3.1).
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

/// A redirect is from another server than the one that was asked, or does not say from which (RFC 9207).
///
/// Whoever mixes servers up could get at the code of one by way of another.
public struct AuthorizationIssuerError: Error, LocalizedError, Equatable, Sendable {
    /// The issuer that was asked.
    public let expected: URL

    /// The issuer that the redirect names, if it names one.
    public let found: String?

    /// What happened, and what to do next.
    public var errorDescription: String? {
        "The answer to the sign-in is from \(found.map { "“\($0)”" } ?? "an unnamed server") and not from \(expected.absoluteString). Sign in again."
    }
}

extension URL {
    /// The code in a redirect, if the redirect is acceptable (RFC 6749, 4.1.2).
    ///
    /// - Parameters:
    ///   - state: What the sign-in sent.
    ///   - configuration: The client's configuration, whose redirect URI this must be; nil if that is not to be checked.
    /// - Returns: The code.
    /// - Throws: `OAuth2Error.redirectUri(_:reason:)` for another redirect URI, another sign-in's state, or without a code;
    ///   `OAuth2ServerError` if the server refused.
    public func authorizationCode(state: String, configuration: OAuth2Client.Configuration?) throws -> String {
        if let configuration, configuration.redirectUri == nil { throw OAuth2Error.redirectUriRequired }
        return try AuthorizationResponse(self, redirectUri: configuration?.redirectUri, state: state).code()
    }

    /// The URL without what it brought: a code in an error would be a code in a log.
    var withoutQuery: URL {
        var components = URLComponents(url: self, resolvingAgainstBaseURL: false)
        components?.query = nil
        components?.fragment = nil
        return components?.url ?? self
    }
}
