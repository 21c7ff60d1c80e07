internal import Delivery
internal import Foundation
internal import HTTPTypes
internal import JOSE
internal import ServerHTTP

/// The control API calls below `/sandbox/outbox`, and the outbox page. At the same path, browsers get the page and programs get JSON. The
/// page's script inserts message content only as text. The HTML of a mail is shown in a sandboxed frame, which runs and loads nothing.
struct OutboxCalls: Sendable {
    /// The maximum wait for a new message, in seconds of real time.
    private static let patience = 20.0

    let outbox: Outbox
    let sleep: @Sendable (Double) async throws -> Void

    /// Responds to a request; `nil` for an unknown call. Throws ``ControlBody/Invalid`` for an invalid query.
    func answer(_ request: ServerRequest, path: String) async throws -> ServerResponse? {
        let isRead = request.head.method == .get || request.head.method == .head
        switch path {
        case "outbox" where isRead:
            if request.head.headerFields[.accept]?.contains("text/html") == true { return page(PackageResources.outbox_html, "text/html") }
            return await messages(after: try number(in: request.query))
        case "outbox" where request.head.method == .delete:
            outbox.clear()
            return json(outbox.messages)
        case "style.css" where isRead: return page(PackageResources.style_css, "text/css")
        case "outbox.css" where isRead: return page(PackageResources.outbox_css, "text/css")
        case "outbox.js" where isRead: return page(PackageResources.outbox_js, "text/javascript")
        default: return isRead ? mail(path) : nil
        }
    }

    /// Returns all messages. With a number, waits for a later message first, at most for ``patience``.
    private func messages(after number: Int?) async -> ServerResponse {
        guard let number else { return json(outbox.messages) }
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                // Any other number counts as a change. A client may send a higher number from before the messages were cleared.
                for await _ in outbox.changes where outbox.messages.last?.number ?? 0 != number { return }
            }
            group.addTask { try? await sleep(Self.patience) }
            await group.next()
            group.cancelAll()
        }
        return json(outbox.messages)
    }

    private func number(in query: Substring?) throws -> Int? {
        guard let query, !query.isEmpty else { return nil }
        guard query.hasPrefix("after="), let number = Int(query.dropFirst(6)), number >= 0 else {
            throw ControlBody.Invalid(message: "The query is after= and the number of a message, such as after=3.")
        }
        return number
    }

    private func json(_ messages: [OutboxMessage]) -> ServerResponse {
        let json: JSONValue = ["messages": .array(messages.map(\.json)), "last": .integer(Int64(messages.last?.number ?? 0))]
        return ServerResponse(json: json.serialized(), headers: [.cacheControl: "no-store"])
    }

    /// Returns the HTML of a mail for the path `outbox/{number}.html`; `nil` for other paths.
    private func mail(_ path: String) -> ServerResponse? {
        guard path.hasPrefix("outbox/"), path.hasSuffix(".html"), let number = Int(path.dropFirst(7).dropLast(5)),
            let html = outbox.messages.first(where: { $0.number == number })?.html
        else { return nil }
        var response = page(Array(html.utf8), "text/html")
        response.headers[.contentSecurityPolicy] =
            "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox"
        if let name = HTTPField.Name("X-Frame-Options") { response.headers[name] = "SAMEORIGIN" }
        return response
    }

    private func page(_ body: [UInt8], _ type: String) -> ServerResponse {
        ServerResponse(
            status: .ok,
            headers: [
                .contentType: "\(type); charset=utf-8", .cacheControl: "no-store",
                .contentSecurityPolicy:
                    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
            ], body: body)
    }
}

extension OutboxMessage {
    var json: JSONValue {
        var json: [String: JSONValue] = [
            "id": .string(id), "number": .integer(Int64(number)), "channel": .string(channel.rawValue), "recipient": .string(recipient),
            "text": .string(text), "time": .double(time.timeIntervalSince1970), "expires": .double(expiresAt.timeIntervalSince1970),
        ]
        json["phoneExtension"] = phoneExtension.map(JSONValue.string)
        json["login"] = login.map(JSONValue.string)
        json["subject"] = subject.map(JSONValue.string)
        json["html"] = html.map(JSONValue.string)
        json["code"] = code.map(JSONValue.string)
        json["link"] = link.map { .string($0.absoluteString) }
        return .object(json)
    }
}
