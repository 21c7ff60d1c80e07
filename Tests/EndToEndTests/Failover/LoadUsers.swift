import CountersignSandbox
import Crypto
import Foundation
import JOSE
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The users of a load. Each repeats one kind of sign-in until the load stops, and records an issue for each wrong response.
struct LoadUsers: Sendable {
    let client: LoadClient

    static let password = "Correct-Horse-7"
    /// The logins of the users. Each login names the kind of user and a number.
    static let logins = ["refresh1", "refresh2", "refresh3", "push1", "push2", "page1", "classic1", "typo1"].map { "\($0)@example.com" }
    /// The time in seconds for which a retry can use the previous refresh token. It is longer than every fault of the test.
    static let leeway: TimeInterval = 60

    private static let token = "/oauth2/default/v1/token"
    private static let scope = "openid offline_access"

    static func organization(origin: String) -> String {
        """
        \(OrganizationText.head(name: "Failover", group: "Everyone").replacing("http://localhost:8080", with: origin))
              - name: All
                rules: [{name: All}]
        password_policy: {scrypt_log_n: 14}
        rate_limits: {per_client: 1000000, per_address: 1000000, per_address_sign_ins: 1000000, per_user: 1000000}
        authn_api: {sign_on_policy: one-factor}
        applications:
          - {id: app, name: App, type: native, grant_types: [password, refresh_token], refresh_token_leeway: \(Int(leeway))s, assignment: everyone, sign_on_policy: one-factor}
          - {id: push-app, name: Push, type: native, grant_types: [password, refresh_token, mfa-oob], assignment: everyone, sign_on_policy: two-factors}
          - {id: page-app, name: Pages, type: native, grant_types: [authorization_code, refresh_token], redirect_uris: ["com.example.app:/callback"], assignment: everyone, sign_on_policy: one-factor}
          - id: phone-app
            name: Phone
            type: native
            grant_types: [password, refresh_token, mfa-oob, jwt-bearer]
            granted_api_scopes: [okta.myAccount.appAuthenticator.manage, okta.myAccount.appAuthenticator.maintenance.manage]
            assignment: everyone
            sign_on_policy: one-factor
        authenticators:
          - {id: autphone, type: custom_app, name: Phone, client: phone-app, number_challenge: never, user_verification: preferred}
        users:
        \(logins.map { "  - {login: \($0), password: \(password), groups: [Everyone]}" }.joined(separator: "\n"))
        """
    }

    /// Runs all users until the load stops.
    func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for login in Self.logins {
                group.addTask {
                    switch login.prefix(while: \.isLetter) {
                    case "refresh": try await refresh(login)
                    case "push": try await push(login)
                    case "page": try await pages(login)
                    case "classic": try await classic(login)
                    default: try await typos(login)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private var isStopped: Bool { client.count.isStopped }

    // MARK: - Password and refresh

    private func signIn(_ login: String, password: String = Self.password) async throws -> LoadClient.Answer {
        try await client.send(
            "POST", Self.token,
            form: [
                "grant_type": "password", "client_id": "app", "username": login, "password": password, "scope": Self.scope,
            ], as: "password")
    }

    private func renew(_ token: String, client id: String = "app") async throws -> LoadClient.Answer {
        try await client.send(
            "POST", Self.token, form: ["grant_type": "refresh_token", "client_id": id, "refresh_token": token], as: "refresh")
    }

    /// Refreshes one session repeatedly. A retry after a lost answer must succeed.
    private func refresh(_ login: String) async throws {
        let signedIn = try await signIn(login)
        var token = try #require(signedIn.json["refresh_token"]?.stringValue, "\(signedIn.text)")
        var superseded: [(token: String, at: ContinuousClock.Instant)] = []
        while !isStopped {
            let answer = try await renew(token)
            guard let next = answer.json["refresh_token"]?.stringValue else {
                Issue.record("A valid refresh token was rejected: \(answer.status) \(answer.text), repeated: \(answer.isRepeated)")
                return
            }
            superseded.append((token, .now))
            token = next
        }
        // A superseded token is valid for the leeway at most. Its reuse revokes the session.
        guard let old = superseded.first(where: { $0.at + .seconds(Self.leeway + 2) < .now }) else { return }
        #expect(try await renew(old.token).error == "invalid_grant", "A superseded refresh token is valid.")
        #expect(try await renew(token).error == "invalid_grant", "The reuse of a refresh token did not revoke its session.")
    }

    /// Enters a wrong and then the correct password. Repeated attempts must not lock the account.
    private func typos(_ login: String) async throws {
        while !isStopped {
            #expect(try await signIn(login, password: "wrong").error == "invalid_grant")
            let correct = try await signIn(login)
            #expect(correct.status == 200, "A user was locked out: \(correct.text)")
        }
    }

    // MARK: - Push

    /// Signs in with a password and a push, which the user's phone approves.
    private func push(_ login: String) async throws {
        let phone = try await enrolledPhone(login)
        let app = ["client_id": "push-app"]
        let (type, scope) = ("http://auth0.com/oauth/grant-type/mfa-oob", Self.scope)
        while !isStopped {
            let begun = try await client.send(
                "POST", Self.token,
                form: app.merging(["grant_type": "password", "username": login, "password": Self.password, "scope": scope]) { $1 },
                as: "push: password")
            let mfa = try #require(begun.json["mfa_token"]?.stringValue, "\(begun.status) \(begun.text)")
            let challenge = try await client.send(
                "POST", "/oauth2/default/v1/challenge",
                form: app.merging(["mfa_token": mfa, "challenge_types_supported": type, "channel_hint": "push"]) { $1 },
                as: "push: challenge")
            let code = try #require(challenge.json["oob_code"]?.stringValue, "\(challenge.status) \(challenge.text)")
            let isApproved = try await phone.approveAll(client)
            let form = app.merging(["grant_type": type, "mfa_token": mfa, "oob_code": code, "scope": scope]) { $1 }
            var answer = try await client.send("POST", Self.token, form: form, as: "push: poll")
            if answer.error == "authorization_pending" {
                // The phone had fetched its challenges before this one was sent, and so had answered only an earlier one.
                _ = try await phone.approveAll(client)
                answer = try await client.send("POST", Self.token, form: form, as: "push: poll")
            }
            let isTaken = answer.error == "invalid_grant" && answer.isRepeated
            #expect(answer.status == 200 || isTaken, "The approval (\(isApproved)) was forgotten: \(answer.status) \(answer.text)")
            let again = try await client.send("POST", Self.token, form: form, as: "push: replay")
            #expect(again.error == "invalid_grant", "An approval was used twice: \(again.status) \(again.text)")
        }
    }

    private func enrolledPhone(_ login: String) async throws -> LoadPhone {
        let scope = "openid okta.myAccount.appAuthenticator.manage"
        let token = try await client.send(
            "POST", "/oauth2/v1/token",
            form: ["grant_type": "password", "client_id": "phone-app", "username": login, "password": Self.password, "scope": scope],
            as: "enrollment: password")
        return try await LoadPhone(client, accessToken: try #require(token.json["access_token"]?.stringValue, "\(token.text)"))
    }

    // MARK: - Pages and the classic API

    private static let verifier = "a-verifier-of-forty-three-characters-or-more-0123"
    private static let authorize: String = {
        let parameters = [
            "client_id": "page-app", "redirect_uri": "com.example.app:/callback", "response_type": "code", "scope": scope, "state": "s",
            "nonce": "n", "code_challenge": Base64URL.encode(Array(SHA256.hash(data: Array(verifier.utf8)))),
            "code_challenge_method": "S256",
        ]
        return "/oauth2/default/v1/authorize?" + LoadClient.encode(parameters)
    }()

    /// Signs in on the pages in a new browser, exchanges the code, and tries to use the code again.
    private func pages(_ login: String) async throws {
        while !isStopped {
            var browser = LoadBrowser(client: client)
            let page = try await browser.open(Self.authorize)
            guard let form = page.forms.first(where: { $0.field(ofType: "password") != nil }) else {
                Issue.record("The browser got no sign-in page: \(page.status) \(page.text)")
                return
            }
            let answer = try await browser.submit(form, ["username": login, "password": Self.password])
            if let code = Self.code(answer) {
                try await exchange(code)
            } else {
                // After a lost answer, the sign-in may have ended. The user then starts again.
                #expect(answer.isRepeated, "The sign-in page refused: \(answer.status) \(answer.location ?? answer.text)")
            }
        }
    }

    /// Signs in with the classic API and exchanges the session token for a code.
    private func classic(_ login: String) async throws {
        while !isStopped {
            let signedIn = try await client.send(
                "POST", "/api/v1/authn", json: ["username": .string(login), "password": .string(Self.password)], as: "classic")
            let token = try #require(signedIn.json["sessionToken"]?.stringValue, "\(signedIn.status) \(signedIn.text)")
            let path = Self.authorize + "&prompt=none&sessionToken=\(token)"
            let answer = try await client.send("GET", path, as: "authorize")
            if let code = Self.code(answer) {
                try await exchange(code)
            } else {
                #expect(answer.isRepeated, "A session token was rejected: \(answer.location ?? answer.text)")
            }
            let again = try await client.send("GET", path, as: "authorize: replay")
            #expect(Self.code(again) == nil, "A session token was used twice: \(again.location ?? again.text)")
        }
    }

    private static func code(_ answer: LoadClient.Answer) -> String? {
        answer.location.flatMap { URLComponents(string: $0)?.queryItems?.first { $0.name == "code" }?.value }
    }

    private func exchange(_ code: String) async throws {
        let form = [
            "grant_type": "authorization_code", "client_id": "page-app", "code": code, "redirect_uri": "com.example.app:/callback",
            "code_verifier": Self.verifier,
        ]
        let answer = try await client.send("POST", Self.token, form: form, as: "code")
        let isLost = answer.isRepeated && answer.error == "invalid_grant"
        #expect(answer.status == 200 || isLost, "A code was rejected: \(answer.status) \(answer.text)")
        let again = try await client.send("POST", Self.token, form: form, as: "code: replay")
        #expect(again.error == "invalid_grant", "A code was used twice: \(again.status) \(again.text)")
        guard let token = answer.json["refresh_token"]?.stringValue else { return }
        #expect(try await renew(token, client: "page-app").error == "invalid_grant", "A reused code did not revoke its tokens.")
    }
}

/// A phone with real keys that polls for challenges and approves them.
struct LoadPhone: Sendable {
    private let phone: SigningPhone
    private let headers: [String: String]

    init(_ client: LoadClient, accessToken: String) async throws {
        var phone = try SigningPhone(origin: "http://127.0.0.1:\(client.port)")
        headers = ["Accept": "application/json; okta-version=1.0.0", "Authorization": "Bearer \(accessToken)"]
        let answer = try await client.send(
            "POST", "/idp/myaccount/app-authenticators", json: phone.enrollment(in: "autphone"), headers: headers, as: "enrollment")
        try #require(answer.status == 200, "\(answer.text)")
        try phone.remember(answer.json)
        self.phone = phone
    }

    /// Approves every pending challenge. Returns whether an approval was accepted.
    func approveAll(_ client: LoadClient) async throws -> Bool {
        let pending = try await client.send(
            "GET", "/idp/myaccount/app-authenticators/\(phone.enrollmentID)/push/notifications", headers: headers, as: "phone: pending")
        var isAccepted = false
        for element in try #require(pending.json.arrayValue, "\(pending.status) \(pending.text)") {
            let token = try JSONWebSignature(parsing: try #require(element["challenge"]?.stringValue))
            let claims = try JSONValue(parsing: token.payload)
            let uri = try #require(claims["verificationUri"]?.stringValue.flatMap(URL.init(string:)))
            let signed = try phone.answer(
                to: claims["transactionId"]?.stringValue ?? "", nonce: claims["nonce"]?.stringValue ?? "",
                audience: claims["iss"]?.stringValue, context: ["transactionType": "LOGIN", "userConsent": "APPROVED_CONSENT_PROMPT"],
                at: Date()
            ).signed()
            let answer = try await client.send(
                "POST", uri.path(), json: ["method": "push", "challengeResponse": .string(signed)], headers: headers, as: "phone: approval")
            #expect(answer.status == 200 || answer.isRepeated && answer.status == 400, "\(answer.status) \(answer.text)")
            isAccepted = isAccepted || answer.status == 200
        }
        return isAccepted
    }
}

/// A browser that keeps cookies and follows redirects within the server.
struct LoadBrowser {
    let client: LoadClient
    private var cookies: [String: String] = [:]

    init(client: LoadClient) { self.client = client }

    mutating func open(_ path: String) async throws -> HostedPage {
        let answer = try await follow(try await send("GET", path))
        let url = answer.response.url ?? URL(filePath: "/")
        return HostedPage(html: answer.text, url: url, status: answer.status)
    }

    /// Submits a form and follows the redirects up to the one that leaves the server.
    mutating func submit(_ form: HostedPage.Form, _ values: [String: String]) async throws -> LoadClient.Answer {
        let fields = form.fields.reduce(into: [String: String]()) { $0[$1.name] = $1.value }
        let answer = try await send("POST", form.action.path(), fields.merging(values) { $1 })
        let last = try await follow(answer)
        return LoadClient.Answer(
            status: last.status, text: last.text, response: last.response, isRepeated: answer.isRepeated || last.isRepeated)
    }

    private mutating func follow(_ answer: LoadClient.Answer) async throws -> LoadClient.Answer {
        var answer = answer
        while let location = answer.location, location.hasPrefix("/") || location.hasPrefix("http://127.0.0.1:\(client.port)/") {
            let isRepeated = answer.isRepeated
            let next = try await send("GET", location.replacing("http://127.0.0.1:\(client.port)", with: ""))
            answer = .init(status: next.status, text: next.text, response: next.response, isRepeated: isRepeated || next.isRepeated)
        }
        return answer
    }

    private mutating func send(_ method: String, _ path: String, _ form: [String: String]? = nil) async throws -> LoadClient.Answer {
        let cookie = cookies.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
        let origin = "http://127.0.0.1:\(client.port)"
        let answer = try await client.send(
            method, path, form: form,
            headers: ["Cookie": cookie, "Origin": origin].filter { !$0.value.isEmpty && (method == "POST" || $0.key != "Origin") },
            as: "page")
        for line in (answer.response.value(forHTTPHeaderField: "Set-Cookie") ?? "").split(separator: "\n") {
            let pair = (line.split(separator: ";").first ?? "").split(separator: "=", maxSplits: 1).map(String.init)
            if let name = pair.first { cookies[name] = pair.count > 1 ? pair[1] : nil }
        }
        return answer
    }
}
