internal import Delivery
internal import Foundation
internal import HTTPTypes
internal import IdentityCore
internal import JOSE
internal import Mustache
internal import ServerHTTP
internal import SignInPages

/// The sandbox's front page at `/`: users, applications, outbox, clock and control calls. Programs get the same content as JSON. The page
/// has no script and no form, and loads only its own style. Names and messages are untrusted input; the template escapes them.
struct FrontPage {
    private let sandbox: Sandbox
    private let users: [SandboxUser]
    private let applications: [Application]
    private let messages: [OutboxMessage]
    private let phones: Set<String>
    private let calls: [ControlCall]
    private let example: ControlCall.Example

    init(_ sandbox: Sandbox) {
        self.sandbox = sandbox
        users = sandbox.organization.users
        applications = sandbox.organization.applications
        messages = sandbox.outbox.messages
        phones = Set(sandbox.allPhones.map { $0.login.lowercased() })
        var example = ControlCall.Example()
        if let login = users.first?.login { example.login = login }
        if let policy = sandbox.organization.definition.signOnPolicies.first?.name { example.policy = policy }
        self.example = example
        calls = ControlCall.all(example)
    }

    /// Returns the page for a browser, and JSON for other clients.
    func answer(accepting accept: String) -> ServerResponse {
        var response =
            accept.contains("text/html")
            ? ServerResponse(status: .ok, headers: [.contentType: "text/html; charset=utf-8"], body: html)
            : ServerResponse(json: json.serialized())
        response.headers[.vary] = "Accept"
        response.headers[.cacheControl] = "no-store"
        Self.protect(&response)
        return response
    }

    /// Returns the style of the page or the property list of an application; `nil` for other paths. The path is relative to `/sandbox/` and
    /// percent-encoded. `sandbox` is `nil` while the sandbox starts.
    static func resource(_ method: HTTPRequest.Method, _ path: String, in sandbox: Sandbox?) -> ServerResponse? {
        guard method == .get else { return nil }
        if path == "home.css" {
            return ServerResponse(
                status: .ok, headers: [.contentType: "text/css; charset=utf-8", .cacheControl: "no-store"], body: PackageResources.home_css)
        }
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == "applications", parts[2] == "Okta.plist", let id = String(parts[1]).removingPercentEncoding,
            let sandbox,
            let application = sandbox.organization.applications.first(where: { $0.id == id })
        else { return nil }
        var response = ServerResponse(
            status: .ok, headers: [.contentType: "application/xml; charset=utf-8", .cacheControl: "no-store"],
            body: Array(list(application, in: sandbox).text.utf8))
        if let name = HTTPField.Name("Content-Disposition") { response.headers[name] = #"attachment; filename="Okta.plist""# }
        protect(&response)
        return response
    }

    private static func list(_ application: Application, in sandbox: Sandbox) -> PropertyList {
        let server = sandbox.organization.definition.authorizationServers.first { $0.id == "default" }
        return PropertyList(application, at: sandbox.origin, scopes: server?.scopes.map(\.name) ?? [])
    }

    private static func protect(_ response: inout ServerResponse) {
        response.headers[.contentSecurityPolicy] =
            "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        for name in ["Cross-Origin-Opener-Policy", "Cross-Origin-Resource-Policy"] {
            if let name = HTTPField.Name(name) { response.headers[name] = "same-origin" }
        }
    }

    private func curl(_ call: ControlCall) -> String {
        call.curl(at: sandbox.origin, login: example.login, trusting: sandbox.authority?.certificateFile)
    }

    private var json: JSONValue {
        var json: [String: JSONValue] = [
            "issuer": .string(sandbox.issuer.absoluteString),
            "discovery": .string(sandbox.issuer.absoluteString + "/.well-known/openid-configuration"),
            "users": .array(users.map(json)), "applications": .array(applications.map { $0.json(at: sandbox.origin.absoluteString) }),
            "outbox": [
                "url": .string(sandbox.origin.absoluteString + "/sandbox/outbox"), "count": .integer(Int64(messages.count)),
                "latest": .array(messages.suffix(Self.shownMessages).map(\.json)),
            ],
            "clock": sandbox.clock.json,
            "control_api": .array(
                calls.map { call in
                    [
                        "method": .string(call.method), "path": .string("/sandbox/" + call.path), "summary": .string(call.summary),
                        "curl": .string(curl(call)),
                    ]
                }),
        ]
        json["phones_page"] = sandbox.phoneURL.map { .string($0.absoluteString) }
        json["resource_server"] = sandbox.messagesURL.map { .string($0.absoluteString) }
        json["authority"] = sandbox.authority.map { .string($0.certificateFile.path()) }
        return .object(json)
    }

    private func json(_ user: SandboxUser) -> JSONValue {
        var json = user.json
        json["password"] = user.password.map(JSONValue.string) ?? .null
        json["has_phone"] = .bool(phones.contains(user.login.lowercased()))
        return json
    }

    private static let shownMessages = 3

    private static let template: MustacheTemplate = {
        MustacheContentTypes.register(PageContent(), named: PageContent.name)
        let text = "{{% CONTENT_TYPE:\(PageContent.name)}}" + String(decoding: PackageResources.home_mustache, as: UTF8.self)
        // The template is part of the program, so input cannot make it invalid.
        guard let template = try? MustacheTemplate(string: text) else { preconditionFailure("The front page's template can't be read.") }
        return template
    }()

    private var html: [UInt8] { Array(Self.template.render(view).utf8) }

    private var view: FrontPageView {
        FrontPageView(
            issuer: sandbox.issuer.absoluteString, discovery: sandbox.issuer.absoluteString + "/.well-known/openid-configuration",
            phonesPage: sandbox.phoneURL?.absoluteString, resourceServer: sandbox.messagesURL?.absoluteString,
            authority: sandbox.authority?.certificateFile.path(), clock: clock,
            users: users.map(view), applications: applications.map(view), messageCount: messages.count,
            messages: messages.suffix(Self.shownMessages).reversed().map(view), hasMessages: !messages.isEmpty, callGroups: callGroups)
    }

    /// The calls under their headings, in the order of the list.
    private var callGroups: [FrontPageView.CallGroup] {
        calls.reduce(into: []) { groups, call in
            let view = FrontPageView.Call(method: call.method, path: "/sandbox/" + call.path, summary: call.summary, curl: curl(call))
            if let last = groups.indices.last, groups[last].title == call.group {
                groups[last].calls.append(view)
            } else {
                groups.append(.init(title: call.group, calls: [view]))
            }
        }
    }

    private var clock: FrontPageView.Clock {
        let now = sandbox.clock.now
        let mode =
            switch sandbox.clock.mode {
            case .running: "runs with this machine's clock"
            case .standing: "is stopped until it is moved"
            case .skipping: "skips ahead when a client waits"
            }
        let text = now.formatted(
            .iso8601.year().month().day().dateSeparator(.dash).dateTimeSeparator(.space).time(includingFractionalSeconds: false))
        return .init(date: text, iso: now.formatted(.iso8601), mode: mode)
    }

    private func view(_ user: SandboxUser) -> FrontPageView.User {
        let name = user.profile["name"]?.stringValue.flatMap { $0.isEmpty ? nil : $0 } ?? user.login
        return .init(
            name: name, initial: name.first.map { String($0).uppercased() } ?? "?", login: user.login, password: user.password,
            status: user.status == .active ? nil : user.status.rawValue,
            groups: user.groups.isEmpty ? nil : user.groups.joined(separator: ", "),
            // Enrolling a phone requires a sign-in with the password.
            phone: user.password == nil ? nil : sandbox.phoneURL.map { "\($0.absoluteString)/#\(user.login.encodedForPath)" },
            hasPhone: phones.contains(user.login.lowercased()))
    }

    private func view(_ application: Application) -> FrontPageView.Application {
        let kinds: [Application.Kind: String] = [.native: "Native", .browser: "Browser", .web: "Web", .service: "Service"]
        let grants = application.grantTypes.map { $0.split(separator: ":").last.map(String.init) ?? $0 }
            .map { $0.split(separator: "/").last.map(String.init) ?? $0 }
        return .init(
            name: application.name, id: application.id, kind: kinds[application.kind] ?? "", secret: application.secret,
            grants: grants.isEmpty ? nil : grants.joined(separator: ", "),
            redirects: application.redirectURIs.isEmpty ? nil : application.redirectURIs.joined(separator: ", "),
            policy: application.signOnPolicy.isEmpty ? nil : application.signOnPolicy,
            list: Self.list(application, in: sandbox).text, listURL: "/sandbox/applications/\(application.id.encodedForPath)/Okta.plist")
    }

    private func view(_ message: OutboxMessage) -> FrontPageView.Message {
        let kinds: [String: String] = ["mail": "Mail", "text": "Text", "call": "Call"]
        return .init(
            kind: kinds[message.channel.rawValue] ?? message.channel.rawValue, recipient: message.recipient,
            text: message.subject ?? message.text, code: message.code,
            time: message.time.formatted(.iso8601.time(includingFractionalSeconds: false)))
    }
}

/// The `Okta.plist` of an application: the settings with which an app signs users in to this sandbox.
struct PropertyList: Sendable {
    /// The keys and values in the order of the file.
    let settings: [(key: String, value: String)]

    /// Creates the settings of an application. `scopes` are the custom scopes of the issuer `default`, for applications that act on their
    /// own behalf.
    init(_ application: Application, at origin: URL, scopes: [String]) {
        let usesOrgServer = !application.grantedAPIScopes.isEmpty
        var scope = ["openid"] + (usesOrgServer ? application.grantedAPIScopes : ["profile", "email"])
        if application.grantTypes == ["client_credentials"] {
            scope = scopes
        } else if application.grantTypes.contains("refresh_token"), !usesOrgServer {
            scope.append("offline_access")
        }
        var settings = [
            ("issuer", usesOrgServer ? origin.absoluteString : origin.appending(path: "oauth2/default").absoluteString),
            ("clientId", application.id),
        ]
        if let secret = application.secret { settings.append(("clientSecret", secret)) }
        settings.append(("scopes", scope.joined(separator: " ")))
        if let uri = Self.preferred(application.redirectURIs) { settings.append(("redirectUri", uri)) }
        if let uri = Self.preferred(application.postLogoutRedirectURIs) { settings.append(("logoutRedirectUri", uri)) }
        self.settings = settings
    }

    /// Returns the redirect URI that reopens an app on Apple platforms: a URI with a custom scheme, or else the first URI.
    private static func preferred(_ uris: [String]) -> String? { uris.first { !$0.lowercased().hasPrefix("http") } ?? uris.first }

    var text: String {
        let lines = settings.map { key, value in
            let escaped = value.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            return "    <key>\(key)</key>\n    <string>\(escaped)</string>\n"
        }
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">
            <dict>
            \(lines.joined())</dict>
            </plist>

            """
    }
}
