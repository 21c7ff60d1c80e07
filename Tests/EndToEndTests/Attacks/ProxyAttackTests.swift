import CountersignSandbox
import Foundation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// `countersign serve` behind a proxy that ends TLS: the org file's `origin` is https, and the process itself speaks plain HTTP.
@Suite("Attacks: cookies behind a proxy that terminates TLS")
struct ProxyAttackTests {
    private static let organization = OrganizationText.passwordOnly(
        name: "Proxied", origin: "https://id.example.com",
        application: """
            type: web
            authentication: none
            redirect_uris: [https://app.example.com/callback]
            grant_types: [authorization_code]
            """)

    /// Sends a request as the proxy forwards it.
    private static func request(_ port: Int, _ target: String, form: String? = nil, cookies: String = "") async throws -> (
        Data, HTTPURLResponse
    ) {
        var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(port)\(target)")))
        request.setValue("id.example.com", forHTTPHeaderField: "Host")
        request.setValue("203.0.113.7", forHTTPHeaderField: "X-Forwarded-For")
        request.setValue("https", forHTTPHeaderField: "X-Forwarded-Proto")
        if !cookies.isEmpty { request.setValue(cookies, forHTTPHeaderField: "Cookie") }
        if let form {
            request.httpMethod = "POST"
            request.httpBody = Data(form.utf8)
            request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
        }
        let (body, response) = try await PlainHTTP.data(for: request)
        #expect(response.value(forHTTPHeaderField: "Strict-Transport-Security") == "max-age=31536000", "\(target)")
        for field in (response.value(forHTTPHeaderField: "Set-Cookie") ?? "").split(separator: "\n") {
            let pattern = /__Host-[0-9A-Za-z_-]+=[0-9A-Za-z]*; Path=\/; (Max-Age=[0-9]+; )?HttpOnly; SameSite=Lax; Secure/
            #expect(field.wholeMatch(of: pattern) != nil, "\(target): \(field)")
        }
        return (body, response)
    }

    @Test(
        "Behind a TLS proxy, a server with an https origin sends HSTS, and its cookies are Secure and have the prefix __Host-",
        .timeLimit(.minutes(2)))
    func proxied() async throws {
        let folder = try TemporaryFolder()
        let config = try folder.write(Self.organization, to: "org.yaml")
        let sandbox = try await Sandbox.start()
        let port = try #require(sandbox.origin.port)
        await sandbox.stop()
        let server = try await ServerProcess(config: config, data: folder.path + "data", port: port)
        defer { server.kill() }

        // The first response of the process has the header too.
        let (_, health) = try await Self.request(port, "/health/live")
        #expect(health.value(forHTTPHeaderField: "Strict-Transport-Security") == "max-age=31536000")

        let challenge = String(repeating: "A", count: 43)
        let (_, begun) = try await Self.request(
            port,
            "/oauth2/default/v1/authorize?client_id=app&redirect_uri=https%3A%2F%2Fapp.example.com%2Fcallback&response_type=code&scope=openid"
                + "&state=s&code_challenge=\(challenge)&code_challenge_method=S256")
        let browser = try Self.cookie("browser", of: begun)
        let address = try #require(begun.value(forHTTPHeaderField: "Location"))
        let (body, page) = try await Self.request(port, address, cookies: browser)
        #expect(page.statusCode == 200 && page.value(forHTTPHeaderField: "Strict-Transport-Security") != nil)
        let html = String(decoding: body, as: UTF8.self)
        let token = try #require(html.firstMatch(of: /name="form_token" value="([^"]*)"/)?.1)
        let form = "form_token=\(token)&username=jane%40example.com&password=Correct-Horse-7"
        // A cookie that a plain-http page of the same host set has no prefix, and is ignored.
        let planted = try await Self.request(port, address + "/password", form: form, cookies: browser.replacing("__Host-", with: "")).1
        #expect(planted.statusCode == 403)

        let proved = try await Self.request(port, address + "/password", form: form, cookies: browser).1
        let signIn = try Self.cookie("signin-[0-9A-Za-z_-]{16}", of: proved)
        let answer = try await Self.request(port, address, cookies: "\(browser); \(signIn)").1
        #expect(answer.value(forHTTPHeaderField: "Location")?.hasPrefix("https://app.example.com/callback?code=") == true)
        _ = try Self.cookie("session", of: answer)
    }

    /// Returns the cookie that a response sets, in the form `name=value`.
    private static func cookie(_ name: String, of answer: HTTPURLResponse) throws -> String {
        let fields = try #require(answer.value(forHTTPHeaderField: "Set-Cookie")).split(separator: "\n")
        let field = try #require(fields.first { $0.starts(with: "__Host-\(name)=") } ?? fields.first)
        let pattern = "(__Host-\(name)=[0-9A-Za-z]{43}); Path=/; (Max-Age=[0-9]+; )?HttpOnly; SameSite=Lax; Secure"
        let match = try #require(try Regex(pattern).wholeMatch(in: field), "\(field)")
        return try #require(match.output[1].substring).description
    }
}
