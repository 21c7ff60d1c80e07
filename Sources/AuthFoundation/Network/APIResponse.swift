public import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The server's limit on requests, as its answer tells it.
public struct APIRateLimit: Decodable, Equatable, Sendable {
    /// How many requests are allowed in the period.
    public let limit: Int

    /// How many are left.
    public let remaining: Int

    /// When the period ends: seconds since 1970 by the server's clock.
    public let reset: TimeInterval

    /// How many seconds to wait before the next request; nil if there is no need to wait.
    public let delay: TimeInterval?

    /// Reads the three headers `x-rate-limit-limit`, `-remaining`, `-reset` and `Date`, in any letter case.
    ///
    /// - Returns: nil unless all are there and well formed.
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

/// A server's answer.
public struct APIResponse<T: Decodable & Sendable>: Decodable, Sendable {
    /// Another page of the same result.
    public enum Link: String, Codable, Sendable {
        /// This page.
        case current = "self"
        /// The page after this.
        case next
        /// The page before this.
        case previous
    }

    /// The body.
    public let result: T

    /// The server's time, or the client's if the answer names none.
    public let date: Date

    /// The HTTP status.
    public let statusCode: Int

    /// The body as it was received.
    public let responseBody: Data?

    /// Other pages of the same result.
    public let links: [Link: URL]

    /// The server's limit on requests, if the answer tells it.
    public let rateInfo: APIRateLimit?

    /// The server's name for the request.
    public let requestId: String?

    init(
        result: T, date: Date, statusCode: Int, responseBody: Data? = nil, links: [Link: URL] = [:], rateInfo: APIRateLimit? = nil,
        requestId: String? = nil
    ) {
        self.result = result
        self.date = date
        self.statusCode = statusCode
        self.responseBody = responseBody
        self.links = links
        self.rateInfo = rateInfo
        self.requestId = requestId
    }
}

/// The body of an answer that has none.
public struct Empty: Codable, Equatable, Sendable {
    /// Nothing.
    public init() {}
}

extension HTTPURLResponse {
    /// The value of a header, whatever its letters' case.
    func header(_ name: String) -> String? {
        if let value = value(forHTTPHeaderField: name) { return value }
        return allHeaderFields.first { ($0.key as? String)?.caseInsensitiveCompare(name) == .orderedSame }?.value as? String
    }

    /// The header `Date`.
    var serverDate: Date? {
        header("Date").flatMap(HTTPDate.date(from:))
    }

    /// The error in the header `WWW-Authenticate` (RFC 6750, 3; RFC 9449, 7.1), which stands for the body of a refused access token.
    var challengeError: OAuth2ServerError? {
        guard let challenge = header("WWW-Authenticate"), ["bearer", "dpop"].contains(where: challenge.lowercased().hasPrefix) else {
            return nil
        }
        func value(_ name: String) -> String? {
            guard let start = challenge.range(of: "\(name)=\"")?.upperBound, let end = challenge[start...].firstIndex(of: "\"") else {
                return nil
            }
            return String(challenge[start..<end])
        }
        return value("error").map { OAuth2ServerError(code: $0, description: value("error_description")) }
    }

    /// The header `Link` by relation (RFC 8288); only the form `<url>; rel="name"` counts.
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
