import Foundation
import JOSE
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Tests changes of the configuration and of the certificate while a server runs.
extension CommandTests {
    private static func organization(_ port: Int, name: String, scheme: String = "http", redirect: String = "com.example.app:/callback")
        -> String
    {
        OrganizationText.passwordOnly(
            name: name, origin: "\(scheme)://127.0.0.1:\(port)",
            application: "type: native\ngrant_types: [authorization_code]\nredirect_uris: [\"\(redirect)\"]")
    }

    @Test(
        "countersign org diff lists the changes of an edited org file, and org apply --yes makes a running server use the changes",
        .timeLimit(.minutes(5)))
    func appliedFile() async throws {
        let (folder, port) = (try TemporaryFolder(), try SitePort().number)
        let config = try folder.write(Self.organization(port, name: "Before"), to: "org.yaml")
        let server = try await ServerProcess(config: config, data: folder.path + "data", port: port)
        func org(_ arguments: String...) async throws -> Command.Ended {
            try await Command.run(["org"] + arguments + ["--config", config, "--data", folder.path + "data"])
        }
        #expect(try await org("diff", "--json").output == "{\"changes\":[]}\n")
        #expect(try await org("apply").output == "The configuration is up to date.\n")
        _ = try folder.write(
            Self.organization(port, name: "After", redirect: "com.example.new:/callback") + "\n  - {login: bob@example.com}", to: "org.yaml"
        )

        let difference = try await org("diff")
        #expect(difference.output.contains("changed organization After") && difference.output.contains("changed application app"))
        #expect(difference.output.contains("created user bob@example.com"), "\(difference.output)\(difference.errors)")
        #expect(!difference.output.contains("Correct-Horse"))
        let unconfirmed = try await org("apply")
        #expect(unconfirmed.status == 1 && unconfirmed.errors.contains("--yes"), "\(unconfirmed.errors)")
        let authorize =
            "/oauth2/default/v1/authorize?client_id=app&response_type=code&scope=openid&state=s&nonce=n&code_challenge_method=S256"
            + "&code_challenge=\(String(repeating: "a", count: 43))&redirect_uri=com.example.new:/callback"
        #expect(try await status(authorize, port) == 400)
        let applied = try await org("apply", "--yes", "--json")
        #expect(applied.status == 0 && applied.output.contains(#""action":"changed","kind":"application","name":"app""#), "\(applied)")
        let end = ContinuousClock.now + .seconds(30)
        // The server reads the configuration again after at most a second.
        while try await status(authorize, port) == 400, ContinuousClock.now < end {}
        #expect(try await status(authorize, port) == 302)

        _ = try folder.write(Self.organization(port + 1, name: "After"), to: "org.yaml")
        let moved = try await org("apply", "--yes")
        #expect(moved.status == 1 && moved.errors.contains("--change-origin"), "\(moved.errors)")
        #expect(try await org("diff").output.contains("(origin http://127.0.0.1:\(port) → http://127.0.0.1:\(port + 1))"))

        _ = try folder.write("name: [", to: "org.yaml")
        let broken = try await org("apply", "--yes")
        #expect(broken.status == 1 && broken.errors.contains("org.yaml"), "\(broken.errors)")
        server.kill()
        await server.waitUntilEnded()
    }

    @Test(
        "On SIGHUP, a server loads the changed certificate and org file, or keeps the previous certificate and configuration if the files are invalid",
        .timeLimit(.minutes(5)))
    func reloaded() async throws {
        let (folder, port) = (try TemporaryFolder(), try SitePort().number)
        let config = try folder.write(Self.organization(port, name: "Before", scheme: "https"), to: "org.yaml")
        func certificate(_ name: String) async throws {
            let ended = try await ChildProcess.run(
                URL(filePath: "/usr/bin/openssl"),
                [
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                    "/CN=\(name)",
                    "-keyout", folder.path + "key.pem", "-out", folder.path + "certificate.pem",
                ])
            try #require(ended.status == 0, "\(ended.errors)")
        }
        func servedName() async throws -> String {
            let script = "openssl s_client -connect 127.0.0.1:\(port) </dev/null 2>/dev/null | openssl x509 -noout -subject"
            return try await ChildProcess.run(URL(filePath: "/bin/bash"), ["-c", script]).output
        }
        try await certificate("first.example.com")
        let process = try Command.start(
            [
                "serve", "--config", config, "--data", folder.path + "data", "--port", "\(port)", "--tls-certificate",
                folder.path + "certificate.pem", "--tls-key", folder.path + "key.pem",
            ])
        try await process.waitFor(" listening")
        #expect(try await servedName().contains("first.example.com"))

        try await certificate("second.example.com")
        _ = try folder.write(Self.organization(port, name: "After", scheme: "https"), to: "org.yaml")
        process.signal(SIGHUP)
        try await process.waitFor("new TLS certificate")
        try await process.waitFor("changed organization After")
        #expect(try await servedName().contains("second.example.com"))

        _ = try folder.write("x", to: "certificate.pem")
        _ = try folder.write("name: [", to: "org.yaml")
        process.signal(SIGHUP)
        try await process.waitFor("the changed TLS certificate is not used")
        try await process.waitFor("the org file was not applied")
        #expect(try await servedName().contains("second.example.com"))
        process.interrupt()
        #expect(await process.end().status == 0)
    }

    @Test(
        "org export writes the running configuration without secrets, also without the org file, and org diff then shows no change",
        .timeLimit(.minutes(5)))
    func exportedFile() async throws {
        let (folder, port) = (try TemporaryFolder(), try SitePort().number)
        let secret = "a-secret-of-the-application-01234"
        let config = try folder.write(
            OrganizationText.passwordOnly(
                name: "'Company: one'", origin: "http://127.0.0.1:\(port)",
                application:
                    "type: web\nauthentication: client_secret\nsecret: \(secret)\ngrant_types: [client_credentials]"),
            to: "org.yaml")
        let server = try await ServerProcess(config: config, data: folder.path + "data", port: port)
        func org(_ arguments: String..., environment: [String: String] = [:]) async throws -> Command.Ended {
            try await Command.run(["org"] + arguments + ["--data", folder.path + "data"], environment: environment)
        }
        let target = folder.path + "exported.yaml"
        let written = try await org("export", "--config", config, "--to", target, "--users")
        #expect(written.status == 0 && written.output == "Wrote \(target).\n" && written.errors.contains("set: APP_SECRET"), "\(written)")
        #expect(try FileManager.default.attributesOfItem(atPath: target)[.posixPermissions] as? Int == 0o600)
        let text = try folder.text("exported.yaml")
        #expect(!text.contains(secret) && !text.contains("Correct-Horse"))
        let again = try await org("export", "--config", config, "--to", target)
        #expect(again.status == 1 && again.errors.contains("already exists and was not changed"), "\(again.errors)")
        #expect(try folder.text("exported.yaml") == text)

        #expect(try await org("diff", "--config", target, "--json", environment: ["APP_SECRET": secret]).output == "{\"changes\":[]}\n")
        let other = try await org("diff", "--config", target, environment: ["APP_SECRET": secret + "5"])
        #expect(other.output.contains("changed application app"), "\(other)")
        let unset = try await org("diff", "--config", target)
        #expect(unset.status == 1 && unset.errors.contains("The environment has no APP_SECRET."), "\(unset.errors)")

        // The org file is lost.
        let printed = try await org("export")
        #expect(printed.status == 0 && printed.output.contains("name: \"Company: one\"") && !printed.output.contains("jane"), "\(printed)")
        let misnamed = try await org("export", "--config", folder.path + "nothing.yaml")
        #expect(misnamed.status == 1 && misnamed.errors.contains("name the data folder with --data"), "\(misnamed.errors)")
        let nowhere = try await Command.run(["org", "export", "--data", folder.path + "nowhere"])
        #expect(nowhere.status == 1 && nowhere.errors.contains("There is no database"), "\(nowhere.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder.path + "nowhere"))
        server.kill()
        await server.waitUntilEnded()
    }

    private func status(_ path: String, _ port: Int) async throws -> Int {
        try await PlainHTTP.data(for: URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(port)\(path)")))).1.statusCode
    }
}
