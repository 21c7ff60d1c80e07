internal import Foundation
internal import HTTPTypes
internal import JOSE
internal import ServerHTTP

/// A call of the control API with an example, for the front page.
struct ControlCall: Sendable {
    /// The values that the examples use.
    struct Example: Sendable {
        var login = "jane.doe@example.com"
        var policy = "one-factor"
        /// A login that the example creates.
        let newLogin = "new.user@example.com"
    }

    /// The heading of the call's group.
    let group: String
    let method: String
    /// The path below `/sandbox/`; `{login}` is a placeholder for a user's login.
    let path: String
    /// One sentence about the effect of the call.
    let summary: String
    let body: JSONValue?

    /// Returns a shell command that makes the call for a user, with quoted words. `certificate` is the file of the authority to trust;
    /// `nil` without TLS.
    func curl(at origin: URL, login: String, trusting certificate: URL?) -> String {
        let url = "\(origin.absoluteString)/sandbox/\(path.replacing("{login}", with: login.encodedForPath))"
        var words = ["curl"]
        if let certificate { words += ["--cacert", Self.quoted(certificate.path(percentEncoded: false))] }
        if method != "GET", method != "POST" || body == nil { words += ["-X", method] }
        words.append(Self.quoted(url))
        if let body { words += ["-d", Self.quoted(body.serializedString)] }
        return words.joined(separator: " ")
    }

    /// Returns a word of a shell command, quoted unless all characters are plain in a shell.
    private static func quoted(_ word: String) -> String {
        let isPlain = word.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
            default: "-._~@:/%".utf8.contains(byte)
            }
        }
        return isPlain ? word : "'" + word.replacing("'", with: #"'\''"#) + "'"
    }

    /// The headings of the groups, by the first word of a path.
    private static let groups = [
        "reset": "Start over and time", "clock": "Start over and time", "users": "Users", "activation-tokens": "Users", "sign-out": "Users",
        "applications": "Applications", "phones": "Virtual phones", "authenticator-apps": "Codes and messages",
        "outbox": "Codes and messages", "faults": "Faults and requests", "requests": "Faults and requests",
    ]

    /// Returns every call of the control API, with an example.
    static func all(_ example: Example) -> [ControlCall] {
        func call(_ method: String, _ path: String, _ summary: String, _ body: JSONValue? = nil) -> ControlCall {
            let name = String(path.prefix { $0 != "/" && $0 != "?" })
            return ControlCall(group: groups[name] ?? "Others", method: method, path: path, summary: summary, body: body)
        }
        let login = JSONValue.string(example.login)
        let newLogin = JSONValue.string(example.newLogin)
        return [
            call("POST", "reset", "Resets the sandbox to its initial state."),
            call("GET", "clock", "Shows the clock."),
            call("POST", "clock", "Moves the clock by a number of seconds, or sets it to a time in seconds since 1970.", ["advance": 3600]),
            call("GET", "users", "Lists users, without passwords."),
            call(
                "POST", "users", "Adds a user, or replaces the one with that login.", ["login": newLogin, "password": "First-Password-1"]),
            call("POST", "activation-tokens", "Creates an activation token for a staged user, or sends it by mail.", ["login": newLogin]),
            call("POST", "sign-out", "Signs a user out everywhere.", ["login": login]),
            call("GET", "applications", "Lists applications."),
            call(
                "POST", "applications", "Adds an application, with the keys of the org file, or replaces the one with that id.",
                [
                    "id": "my-app", "name": "My App", "grant_types": ["password", "refresh_token"], "assignment": "everyone",
                    "sign_on_policy": .string(example.policy),
                ]),
            call("GET", "phones", "Lists virtual phones, with their requests, history and settings."),
            call("POST", "phones", "Enrolls a phone for a user.", ["login": login]),
            call("GET", "phones/{login}", "Shows one phone."),
            call("DELETE", "phones/{login}", "Removes a phone, including its enrollment on the server."),
            call("POST", "phones/{login}/approve", "Approves the pending request, or the next one.", ["within": 30]),
            call("POST", "phones/{login}/deny", "Denies the pending request, or the next one.", ["within": 30]),
            call("POST", "phones/{login}/pull", "Fetches pending requests.", [:]),
            call("POST", "phones/{login}/number", "Sets the number that the phone picks next.", ["number": "42"]),
            call("POST", "phones/{login}/settings", "Changes how a phone behaves.", ["auto_approve": true]),
            call("POST", "phones/{login}/token", "Replaces the push token of a phone.", ["tell": true]),
            call("POST", "phones/{login}/restart", "Restarts a phone.", [:]),
            call("GET", "authenticator-apps", "Lists authenticator apps with their current codes."),
            call("POST", "authenticator-apps", "Enrolls an authenticator app for a user.", ["login": login]),
            call("GET", "authenticator-apps/{login}", "Shows the current codes of one app."),
            call("GET", "outbox", "Lists mails, text messages and calls."),
            call("GET", "outbox?after=0", "Waits up to 20 seconds for a message after the given number."),
            call("DELETE", "outbox", "Deletes all messages."),
            call("GET", "faults", "Lists pending faults."),
            call("POST", "faults", "Adds a fault.", ["endpoint": "token", "effect": "status", "status": 503]),
            call("DELETE", "faults", "Deletes pending faults."),
            call("GET", "requests", "Lists the requests that the server received, without secrets."),
            call("DELETE", "requests", "Deletes the list of requests."),
        ]
    }
}

extension String {
    /// Percent-encodes everything but unreserved characters and `@`, for one component of a path or for a fragment.
    var encodedForPath: String { addingPercentEncoding(withAllowedCharacters: Self.plainInPaths) ?? "" }

    private static let plainInPaths = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~@")
}

/// The access rules of the control API and the front page: only programs on this machine and the sandbox's own pages may send requests. Any
/// web page in the developer's browser can send requests to this machine. The check of `Origin` stops scripts of other pages. The check of
/// `Host` stops pages whose host name resolves to this machine (DNS rebinding).
struct ControlAccess: Sendable {
    /// The origin of the sandbox; `nil` before it listens.
    let origin: URL?

    /// Returns the reason to refuse a request; `nil` if the request is allowed.
    func refusal(of request: ServerRequest) -> String? {
        guard let authority = request.head.authority, let scheme = scheme(at: authority) else {
            return "The control API answers at its own host and port only."
        }
        if let origin = request.head.headerFields[.origin], origin.lowercased() != "\(scheme)://\(authority)".lowercased() {
            return "Pages of other origins can't use the control API."
        }
        return nil
    }

    private static let loopbackNames: Set<String> = ["localhost", "127.0.0.1", "::1", "[::1]"]

    /// Returns the sandbox's URL scheme if `authority`, the `Host` of a request, names this sandbox. The host must be a loopback name or
    /// the configured host, and the port must be the sandbox's. Otherwise the result is `nil`.
    private func scheme(at authority: String) -> String? {
        guard let origin, let scheme = origin.scheme,
            let url = URL(string: "\(scheme)://\(authority)"), url.user == nil, url.path.isEmpty, url.query == nil,
            let host = url.host()?.lowercased(), host == origin.host() || Self.loopbackNames.contains(host)
        else { return nil }
        let standard = scheme == "https" ? 443 : 80
        return (url.port ?? standard) == (origin.port ?? standard) ? scheme : nil
    }
}
