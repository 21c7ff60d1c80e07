public import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The server's rate limit from the headers of a response.
public struct APIRateLimit: Decodable, Equatable, Sendable {
    /// The number of requests allowed in the period.
    public let limit: Int

    /// The number of remaining requests.
    public let remaining: Int

    /// The end of the period in seconds since 1970, by the server's clock.
    public let reset: TimeInterval

    /// The number of seconds to wait before the next request, or `nil` if no wait is needed.
    public let delay: TimeInterval?

    /// Parses `Date` and the headers `x-rate-limit-limit`, `-remaining` and `-reset`, in any letter case. Returns `nil` unless all are
    /// valid.
    init?(_ response: HTTPURLResponse) {
        guard let limit = response.header("x-rate-limit-limit").flatMap({ Int($0) }),
            let remaining = response.header("x-rate-limit-remaining").flatMap({ Int($0) }),
            let reset = response.header("x-rate-limit-reset").flatMap({ TimeInterval($0) }), reset.isFinite,
            let date = response.serverDate
        else { return nil }
        self.limit = limit
        self.remaining = remaining
        self.reset = reset
        delay = remaining > 0 ? nil : max(reset - date.timeIntervalSince1970, 1)
    }
}

/// A response of the server.
public struct APIResponse<T: Decodable & Sendable>: Decodable, Sendable {
    /// The relation of a page to the current page.
    public enum Link: String, Codable, Sendable {
        /// The current page.
        case current = "self"
        /// The next page.
        case next
        /// The previous page.
        case previous
    }

    /// The decoded body.
    public let result: T

    /// The server's time, or the client's time if the response has no date.
    public let date: Date

    /// The HTTP status.
    public let statusCode: Int

    /// The body as received.
    public let responseBody: Data?

    /// The URLs of the pages of the result, by relation.
    public let links: [Link: URL]

    /// The server's rate limit; `nil` if the response does not contain it.
    public let rateInfo: APIRateLimit?

    /// The server's identifier of the request; `nil` if the response does not contain it.
    public let requestId: String?
}

/// The body of a response without content.
public struct Empty: Codable, Equatable, Sendable {
    /// Creates an empty body.
    public init() {}
}

extension HTTPURLResponse {
    /// Returns the value of a header, in any letter case, or `nil` if there is none.
    func header(_ name: String) -> String? {
        if let value = value(forHTTPHeaderField: name) { return value }
        return allHeaderFields.first { ($0.key as? String)?.caseInsensitiveCompare(name) == .orderedSame }?.value as? String
    }

    var serverDate: Date? {
        header("Date").flatMap(HTTPDate.date(from:))
    }

    /// The error in the `WWW-Authenticate` header (RFC 6750 §3; RFC 9449 §7.1). Resource servers send it instead of a body if they reject
    /// an access token.
    var challengeError: OAuth2ServerError? {
        AuthenticationChallenge.all(in: header("WWW-Authenticate") ?? "").lazy
            .filter { ["bearer", "dpop"].contains($0.scheme) }
            .compactMap { challenge in
                challenge.parameters["error"].map {
                    OAuth2ServerError(code: $0, description: challenge.parameters["error_description"])
                }
            }
            .first
    }

    /// The URLs in the `Link` header by relation (RFC 8288). Supports only the form `<url>; rel="name"`.
    var links: [String: URL] {
        var links: [String: URL] = [:]
        for part in (header("Link") ?? "").split(separator: ",") {
            let fields = part.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
            guard let target = fields.first, target.hasPrefix("<"), target.hasSuffix(">"),
                let url = URL(string: String(target.dropFirst().dropLast())),
                let relation = fields.dropFirst().first(where: { $0.lowercased().hasPrefix("rel=") })
            else { continue }
            links[relation.dropFirst(4).trimmingCharacters(in: CharacterSet(charactersIn: "\""))] = url
        }
        return links
    }
}
