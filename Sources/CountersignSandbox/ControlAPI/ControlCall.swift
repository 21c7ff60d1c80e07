internal import Foundation
internal import JOSE

/// A call of the control API, with an example, as the front page lists it.
struct ControlCall: Sendable {
    /// The values that examples are made of.
    struct Example: Sendable {
        /// A user who exists.
        var login = "jane.doe@example.com"
        /// A sign-on policy that exists.
        var policy = "one-factor"
        /// A user who need not exist.
        let newLogin = "new.user@example.com"
    }

    /// What kind of calls it belongs to, as a heading.
    let group: String
    let method: String
    /// Below `/sandbox/`; `{login}` stands for a user.
    let path: String
    /// What it does, in one sentence.
    let summary: String
    /// The body of the example.
    let body: JSONValue?

    /// A line for a shell that makes the call.
    ///
    /// - Parameters:
    ///   - origin: Where the sandbox is reached.
    ///   - login: The user that `{login}` stands for.
    ///   - certificate: The file of the authority to trust; `nil` without TLS.
    /// - Returns: The line; every word of it is quoted where a shell would read it otherwise.
    func curl(at origin: URL, login: String, trusting certificate: URL?) -> String {
        let url = "\(origin.absoluteString)/sandbox/\(path.replacing("{login}", with: login.encodedForPath))"
        var words = ["curl"]
        if let certificate { words += ["--cacert", Self.quoted(certificate.path(percentEncoded: false))] }
        if method != "GET", method != "POST" || body == nil { words += ["-X", method] }
        words.append(Self.quoted(url))
        if let body { words += ["-d", Self.quoted(body.serializedString)] }
        return words.joined(separator: " ")
    }

    /// A word of a shell line, in quotes unless it has only characters that no shell reads as anything else.
    private static func quoted(_ word: String) -> String {
        let isPlain = word.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
            default: "-._~@:/%".utf8.contains(byte)
            }
        }
        return isPlain ? word : "'" + word.replacing("'", with: #"'\''"#) + "'"
    }

    /// The headings, by the first word of a path.
    private static let groups = [
        "reset": "Start over and time", "clock": "Start over and time", "users": "Users", "activation-tokens": "Users", "sign-out": "Users",
        "applications": "Applications", "phones": "Virtual phones", "authenticator-apps": "Codes and messages",
        "outbox": "Codes and messages", "faults": "Faults and requests", "requests": "Faults and requests",
    ]

    /// Every call, with examples.
    static func all(_ example: Example) -> [ControlCall] {
        func call(_ method: String, _ path: String, _ summary: String, _ body: JSONValue? = nil) -> ControlCall {
            let name = String(path.prefix { $0 != "/" && $0 != "?" })
            return ControlCall(group: groups[name] ?? "Others", method: method, path: path, summary: summary, body: body)
        }
        let login = JSONValue.string(example.login)
        let newLogin = JSONValue.string(example.newLogin)
        return [
            call("POST", "reset", "Puts everything back to how the sandbox started."),
            call("GET", "clock", "Shows the clock."),
            call("POST", "clock", "Moves the clock by seconds, or sets it to seconds since 1970.", ["advance": 3600]),
            call("GET", "users", "Lists users, without passwords."),
            call(
                "POST", "users", "Adds a user, or replaces the one with that login.", ["login": newLogin, "password": "First-Password-1"]),
            call("POST", "activation-tokens", "Gives a staged user an activation token, or sends it by mail.", ["login": newLogin]),
            call("POST", "sign-out", "Signs a user out everywhere.", ["login": login]),
            call("GET", "applications", "Lists applications."),
            call(
                "POST", "applications", "Adds an application, with the keys of the org file, or replaces the one with that id.",
                [
                    "id": "my-app", "name": "My App", "grant_types": ["password", "refresh_token"], "assignment": "everyone",
                    "sign_on_policy": .string(example.policy),
                ]),
            call("GET", "phones", "Lists virtual phones, with their requests, history and settings."),
            call("POST", "phones", "Sets up the phone of a user.", ["login": login]),
            call("GET", "phones/{login}", "Shows one phone."),
            call("DELETE", "phones/{login}", "Removes a phone, on the server too."),
            call("POST", "phones/{login}/approve", "Approves a request, or the next one that comes.", ["within": 30]),
            call("POST", "phones/{login}/deny", "Denies a request, or the next one that comes.", ["within": 30]),
            call("POST", "phones/{login}/pull", "Fetches the requests that wait.", [:]),
            call("POST", "phones/{login}/number", "Tells the phone which number to pick next.", ["number": "42"]),
            call("POST", "phones/{login}/settings", "Changes how a phone behaves.", ["auto_approve": true]),
            call("POST", "phones/{login}/token", "Gives a phone a new push token.", ["tell": true]),
            call("POST", "phones/{login}/restart", "Switches a phone off and on.", [:]),
            call("GET", "authenticator-apps", "Lists authenticator apps, with the codes that they show."),
            call("POST", "authenticator-apps", "Gives a user an authenticator app.", ["login": login]),
            call("GET", "authenticator-apps/{login}", "Shows the codes of one app."),
            call("GET", "outbox", "Lists mails, texts and calls."),
            call("GET", "outbox?after=0", "Waits for a message after a number, for at most 20 seconds."),
            call("DELETE", "outbox", "Forgets all messages."),
            call("GET", "faults", "Lists the faults that are still to happen."),
            call("POST", "faults", "Lets something go wrong.", ["endpoint": "token", "effect": "status", "status": 503]),
            call("DELETE", "faults", "Forgets these faults."),
            call("GET", "requests", "Lists the requests that the server got, without secrets."),
            call("DELETE", "requests", "Forgets these requests."),
        ]
    }
}

extension String {
    /// The text as one component of a path, or as a fragment: everything but unreserved characters and `@` is percent-encoded.
    var encodedForPath: String { addingPercentEncoding(withAllowedCharacters: Self.plainInPaths) ?? "" }

    private static let plainInPaths = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~@")
}
