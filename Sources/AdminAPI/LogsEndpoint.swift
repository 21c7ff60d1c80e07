internal import Foundation
internal import HTTPTypes
package import IdentityCore
internal import JOSE
package import ServerHTTP
internal import Store

extension Endpoint {
    /// The endpoints of the management API. None is cross-origin, because a browser must not hold an API token.
    package static func administration(_ engine: Engine) -> [Endpoint] { [logs(engine)] }

    /// The system log (Documentation/Protocol/Admin.md).
    private static func logs(_ engine: Engine) -> Endpoint {
        Endpoint("/api/v1/logs", methods: [.get], isCrossOrigin: false) { call in
            let request = call.request
            let limit = engine.countRequest(clientID: nil, snapshot: call.snapshot, context: request.context)
            guard limit.isAdmitted else { return .tooManyRequests(limit, to: request) }
            var response: ServerResponse
            do {
                response = try await engine.logs(call)
            } catch let refusal as AdminRefusal {
                response = .api(
                    refusal.code, status: refusal.status, refusal.summary, causes: refusal.causes, reason: refusal.reason, to: request)
            }
            response.headers.set(limit)
            return response.uncached()
        }
    }
}

/// An error of the management API.
struct AdminRefusal: Error {
    var code: String
    var status: Int
    var summary: String
    var causes: [String] = []
    /// The reason for the access log.
    var reason: String

    static let invalidToken = AdminRefusal(
        code: "E0000011", status: 401, summary: "Invalid token provided.", reason: "admin: no valid API token")
    static let forbidden = AdminRefusal(
        code: "E0000006", status: 403, summary: "You do not have permission to perform the requested action.",
        reason: "admin: the API token has no permission to read the log")

    static func invalid(_ name: String, _ problem: String) -> AdminRefusal {
        AdminRefusal(
            code: "E0000001", status: 400, summary: "API validation failed: \(name)", causes: ["\(name): \(problem)"],
            reason: "logs: \(name)")
    }

    static func invalidDate(_ name: String) -> AdminRefusal {
        AdminRefusal(
            code: "E0000030", status: 400, summary: "Bad request. Invalid date: \(name). Use the form 2026-01-31T08:00:00.000Z.",
            reason: "logs: \(name)")
    }

    static let invalidFilter = AdminRefusal(
        code: "E0000031", status: 400, summary: "Invalid search criteria.", causes: ["filter: The expression is not valid."],
        reason: "logs: filter")
}

/// The parameters of a request for log lines.
private struct LogsQuery {
    static let parameters: Set<String> = ["since", "until", "after", "filter", "q", "limit", "sortOrder"]

    var since: Date
    /// The end of the time range, exclusive; `nil` for a query that continues with future lines.
    var until: Date?
    var isDescending: Bool
    var after: String?
    var filter: LogFilter?
    /// The keywords in lower case, each of which must occur in a line.
    var keywords: [String]
    var limit: Int
    /// The parameters as sent, for the links.
    var sent: [(name: String, value: String)]

    init(_ request: ServerRequest, now: Date) throws {
        let form: FormParameters
        do { form = try FormParameters(parsing: (request.query ?? "").utf8) } catch {
            throw AdminRefusal.invalid("query", "The query string is malformed, or repeats a parameter.")
        }
        // Some clients send the name of a parameter without a value.
        func value(_ name: String) -> String? { form[name].flatMap { $0.isEmpty ? nil : $0 } }
        until = try value("until").map { try Self.date($0, "until") }
        since = try value("since").map { try Self.date($0, "since") } ?? (until ?? now).addingTimeInterval(-7 * 86_400)
        switch value("sortOrder") {
        case nil, "ASCENDING": isDescending = false
        case "DESCENDING": isDescending = true
        default: throw AdminRefusal.invalid("sortOrder", "Use ASCENDING or DESCENDING.")
        }
        limit = 100
        if let text = value("limit") {
            guard let number = Int(text), (0...1_000).contains(number) else { throw AdminRefusal.invalid("limit", "Use 0 to 1000.") }
            limit = number
        }
        after = value("after")
        if let after, !LogEvent.isPossible(id: after) { throw AdminRefusal.invalid("after", "Invalid cursor.") }
        do { filter = try value("filter").map { try LogFilter(parsing: $0) } } catch { throw AdminRefusal.invalidFilter }
        keywords = (value("q") ?? "").lowercased().split(separator: " ").map(String.init)
        guard keywords.count <= 10, keywords.allSatisfy({ $0.count <= 40 }) else {
            throw AdminRefusal.invalid("q", "Use at most 10 keywords of at most 40 characters.")
        }
        sent = Self.parameters.sorted().compactMap { name in value(name).map { (name, $0) } }
    }

    private static func date(_ text: String, _ name: String) throws -> Date {
        for style in [Date.ISO8601FormatStyle(includingFractionalSeconds: true), Date.ISO8601FormatStyle()] {
            if let date = try? Date(text, strategy: style) { return date }
        }
        throw AdminRefusal.invalidDate(name)
    }

    func selects(_ json: JSONValue) -> Bool {
        guard filter?.selects(json) ?? true else { return false }
        guard !keywords.isEmpty else { return true }
        let texts = LogRepresentation.keywords(of: json)
        return keywords.allSatisfy { keyword in texts.contains { $0.contains(keyword) } }
    }

    /// Returns the URL of this query with another cursor; `nil` keeps the cursor.
    func link(origin: String, after cursor: String?) -> String {
        let parameters = sent.filter { cursor == nil || $0.name != "after" } + (cursor.map { [("after", $0)] } ?? [])
        let query = parameters.map { "\($0.0)=\(Self.encoded($0.1))" }.joined(separator: "&")
        return "\(origin)/api/v1/logs" + (query.isEmpty ? "" : "?\(query)")
    }

    private static func encoded(_ value: String) -> String {
        let unreserved = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        return value.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }
}

extension Engine {
    /// The maximum number of lines that one request reads. A page is shorter than its limit if the filter selects fewer lines.
    private static let mostRead = 50_000

    fileprivate func logs(_ call: Endpoint.Call) async throws -> ServerResponse {
        let snapshot = try await snapshot()
        guard let token = call.request.sswsToken, let caller = snapshot.trustedCaller(token: token) else { throw AdminRefusal.invalidToken }
        guard caller.readsLogs == true else { throw AdminRefusal.forbidden }
        let query = try LogsQuery(call.request, now: call.request.context.now)
        // Includes lines of another server whose clock is up to a minute ahead.
        let latest = query.isDescending ? call.request.context.now.addingTimeInterval(60) : nil
        var search = SystemLogQuery(
            since: query.since, until: query.until ?? latest, limit: min(max(query.limit, 100), 1_000), isDescending: query.isDescending,
            after: query.after)
        var (found, read, position) = ([JSONValue](), 0, query.after)
        var isAtEnd = query.limit == 0
        while found.count < query.limit, !isAtEnd, read < Self.mostRead {
            let page = try await systemLog(search)
            let logins = try await logins(of: Set(page.events.compactMap(\.userID)))
            for event in page.events where found.count < query.limit {
                position = event.id
                let json = LogRepresentation.json(event, logins: logins)
                if query.selects(json) { found.append(json) }
            }
            read += max(page.scanned, 1)
            isAtEnd = page.next == nil && (found.count < query.limit || position == page.events.last?.id)
            if found.count < query.limit, let next = page.next { position = next }
            search.after = page.next
        }
        var response = ServerResponse(json: JSONValue.array(found).serialized())
        var links = ["<\(query.link(origin: snapshot.origin, after: nil))>; rel=\"self\""]
        // A query without an end always has a next page, for future lines.
        if !isAtEnd || query.until == nil && !query.isDescending {
            let cursor = position ?? LogEvent.firstID(at: query.since)
            links.append("<\(query.link(origin: snapshot.origin, after: cursor))>; rel=\"next\"")
        }
        response.headers[.link] = links.joined(separator: ", ")
        return response
    }
}
