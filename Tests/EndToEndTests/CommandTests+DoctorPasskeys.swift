import CountersignSandbox
import Foundation
import JOSE
import TestSupport
import Testing

/// Tests the findings of `countersign doctor` about passkeys.
extension CommandTests {
    /// The well-known files of a server, and the finding about them.
    struct PasskeyFiles: Sendable, CustomTestStringConvertible {
        let name: String
        var apple: String?
        var appleType = "application/json"
        var appleStatus = "200 OK"
        var webauthn: String?
        let check: String
        let result: String
        let says: String
        var testDescription: String { name }
    }

    private static let sites = (1...6).map { #""https://www.shop\#($0).example""# }.joined(separator: ",")

    static let passkeyFiles = [
        PasskeyFiles(
            name: "an app", apple: #"{"webcredentials":{"apps":["ABCDE12345.com.example.app"]}}"#, check: "Apple apps", result: "right",
            says: "ABCDE12345.com.example.app may use the passkeys."),
        PasskeyFiles(
            name: "a redirect", apple: "{}", appleStatus: "301 Moved\r\nLocation: /other", check: "Apple apps", result: "wrong",
            says: "is a redirect, which is not followed. Serve the file at this address itself."),
        PasskeyFiles(
            name: "another content type", apple: "{}", appleType: "text/plain", check: "Apple apps", result: "wrong",
            says: "has the content type text/plain. Serve it as application/json."),
        PasskeyFiles(name: "no JSON", apple: "{", check: "Apple apps", result: "wrong", says: "is not JSON."),
        PasskeyFiles(
            name: "an error", apple: "{}", appleStatus: "500 Error", check: "Apple apps", result: "wrong",
            says: "has the status 500 instead of 200."),
        PasskeyFiles(
            name: "no list of apps", apple: #"{"applinks":{}}"#, check: "Apple apps", result: "wrong",
            says: "has no list webcredentials.apps"),
        PasskeyFiles(
            name: "an app without its team", apple: #"{"webcredentials":{"apps":["com.example.app"]}}"#, check: "Apple apps",
            result: "wrong", says: "Write the team's ten characters and the bundle id: ABCDE12345.com.example.app."),
        PasskeyFiles(
            name: "two origins with one label", webauthn: #"{"origins":["https://www.shop.example","https://shop.co.uk"]}"#,
            check: "Related origins", result: "right", says: "2 with 1 of at most 5 labels"),
        PasskeyFiles(
            name: "too many labels", webauthn: #"{"origins":[\#(sites)]}"#, check: "Related origins", result: "warning",
            says: "names 6 different labels: shop1, shop2, shop3, shop4, shop5, shop6."),
        PasskeyFiles(
            name: "an origin with a path", webauthn: #"{"origins":["https://www.example.com/shop"]}"#, check: "Related origins",
            result: "wrong", says: "names https://www.example.com/shop. Write an origin"),
        PasskeyFiles(
            name: "no list of origins", webauthn: "{}", check: "Related origins", result: "wrong", says: "has no list origins."),
    ]

    @Test("countersign doctor checks the files that browsers and Apple's systems read for passkeys", arguments: passkeyFiles)
    func doctorPasskeyFiles(_ files: PasskeyFiles) async throws {
        let server = try HostileServer { head in
            let port = head.firstMatch(of: /Host: 127.0.0.1:(\d+)/)?.1 ?? ""
            let (apple, webauthn) = (files.apple, files.webauthn)
            switch head.split(separator: " ").dropFirst().first {
            case "/.well-known/openid-configuration": return Self.response(Self.discovery("http://127.0.0.1:\(port)"))
            case "/.well-known/passkey-endpoints": return Self.response("{}")
            case "/.well-known/apple-app-site-association" where apple != nil:
                return Self.response(apple ?? "", type: files.appleType, status: files.appleStatus)
            case "/.well-known/webauthn" where webauthn != nil: return Self.response(webauthn ?? "")
            default: return Self.response("", status: "404 Not Found")
            }
        }
        let findings = try await Self.findings(["--issuer", "http://127.0.0.1:\(server.port)", "--client-id", "app"])
        let found = try #require(findings.first { $0["check"]?.stringValue == files.check }, "\(findings)")
        #expect(found["result"]?.stringValue == files.result)
        #expect(found["text"]?.stringValue?.contains(files.says) == true, "\(found)")
        let passkeys = findings.first { $0["check"]?.stringValue == "Passkeys" }
        #expect(passkeys?["result"]?.stringValue == "warning", "Browsers refuse passkeys at an address.")
        #expect(passkeys?["text"]?.stringValue?.contains("give the organization an origin with the host localhost") == true)
    }

    @Test("countersign doctor reports the server's RP ID, and an app that expects another one")
    func doctorRelyingParty() async throws {
        try await withSandbox { sandbox in
            let flags = ["--issuer", sandbox.issuer.absoluteString, "--client-id", "directauth-app"]
            func passkeys(_ more: [String] = []) async throws -> (result: String?, text: String) {
                let found = try await Self.findings(flags + more).filter { $0["check"]?.stringValue == "Passkeys" }
                return (found.first?["result"]?.stringValue, found.first?["text"]?.stringValue ?? "")
            }
            let own = try await passkeys()
            #expect(own.text.contains("RP ID") && own.text.contains("localhost") && own.result != "wrong", "\(own)")
            #expect(try await passkeys(["--rp-id", "localhost"]).result == own.result)
            let other = try await passkeys(["--rp-id", "id.example.com"])
            #expect(other.result == "wrong")
            #expect(other.text.contains("The server's RP ID is localhost, and not id.example.com. Set rp_id"), "\(other)")
        }
    }

    @Test("countersign doctor reports an organization without passkeys only to an app that expects an RP ID")
    func doctorWithoutPasskeys() async throws {
        let organization = OrganizationText.passwordOnly(
            name: "No passkeys", origin: "http://localhost:8080", application: "grant_types: [password]")
        try await withSandbox(.init(organization: organization)) { sandbox in
            let flags = ["--issuer", sandbox.issuer.absoluteString, "--client-id", "app"]
            #expect(try await !Self.findings(flags).contains { $0["check"]?.stringValue == "Passkeys" })
            let expected = try await Self.findings(flags + ["--rp-id", "id.example.com"]).first { $0["check"]?.stringValue == "Passkeys" }
            #expect(expected?["result"]?.stringValue == "wrong")
            #expect(expected?["text"]?.stringValue?.contains("Add the section passkeys to the org file.") == true)
        }
    }

    private static func findings(_ flags: [String]) async throws -> [JSONValue] {
        let ended = try await Command.run(["doctor", "--json"] + flags)
        return try JSONValue(parsing: ended.output.trimmingCharacters(in: .newlines))["findings"]?.arrayValue ?? []
    }

    private static func response(_ body: String, type: String = "application/json", status: String = "200 OK") -> HostileServer.Answer {
        .bytes(
            "HTTP/1.1 \(status)\r\nContent-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)")
    }

    private static func discovery(_ issuer: String) -> String {
        #"{"issuer":"\#(issuer)","authorization_endpoint":"\#(issuer)/a","token_endpoint":"\#(issuer)/t","jwks_uri":"\#(issuer)/k","response_types_supported":["code"],"subject_types_supported":["public"],"id_token_signing_alg_values_supported":["RS256"]}"#
    }
}
