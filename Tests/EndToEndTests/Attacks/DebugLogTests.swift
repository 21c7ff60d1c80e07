import Foundation
import JOSE
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Attacks: secrets in the log of countersign serve")
struct DebugLogTests {
    @Test(
        "countersign serve logs no secret of the org file, the environment or a request, even at the log levels debug and trace",
        arguments: ["debug", "trace"])
    func noSecret(level: String) async throws {
        let folder = try TemporaryFolder()
        let key = try #require(SigningKey.generate(.es256).privatePEM)
        let keyFile = try folder.write(key, to: "AuthKey.p8")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: keyFile)
        let masterKey = Data("planted-master-key-of-32-bytes!!".utf8).base64EncodedString()
        let config = try folder.write(Self.organization, to: "org.yaml")
        let process = try Command.start(
            ["serve", "--config", config, "--data", folder.path + "data", "--port", "0", "--log-level", level],
            environment: ["COUNTERSIGN_MASTER_KEY": masterKey, "PLANTED_CLIENT_SECRET": "planted-client-secret-of-32-bytes"])
        let said = try await process.waitFor(" listening") + process.waitFor("\n")
        let port = try #require(said.firstMatch(of: /listening on 127.0.0.1:(\d+)/)?.1, "\(said)")

        for secret in ["planted-client-secret-of-32-bytes", "planted-wrong-secret"] {
            var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(port)/oauth2/default/v1/token?x=planted-query")))
            request.httpMethod = "POST"
            request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
            request.setValue("Basic " + Data("service:\(secret)".utf8).base64EncodedString(), forHTTPHeaderField: "Authorization")
            request.httpBody = Data("grant_type=client_credentials&scope=api&password=planted-password".utf8)
            _ = try await PlainHTTP.data(for: request)
        }
        process.interrupt()
        let (status, text) = await process.end()
        #expect(status == 0)
        #expect(text.contains(" debug "), "The debug log is empty.")
        let secrets =
            [
                "planted-", "Planted-Password-1", "PLANTEDTOTPSECRET", masterKey,
                Data("service:planted-client-".utf8).base64EncodedString(),
            ]
            + key.split(separator: "\n").filter { !$0.hasPrefix("-----") }.map(String.init)
        for secret in secrets where text.contains(secret) { Issue.record("\(secret) is in the log: \(text.prefix(2_000))") }
    }

    private static let organization = """
        name: Planted
        origin: http://localhost:8080
        sign_on_policies: [{name: one-factor, rules: [{name: All, require: one_factor}]}]
        messages:
          mail:
            {host: 127.0.0.1, security: none_on_this_machine, user: mailer, password: planted-mail-password, from: id@example.com}
          telephony: {url: "http://127.0.0.1:9/", secret: planted-hook-secret, signing_key: planted-hook-key}
        authorization_servers:
          - id: default
            audience: api://default
            scopes: [{name: api}]
            access_policies: [{name: All, rules: [{name: All, grant_types: [client_credentials], scopes: [api]}]}]
        applications:
          - id: service
            name: Service
            type: service
            authentication: client_secret_basic
            secret: ${PLANTED_CLIENT_SECRET}
            grant_types: [client_credentials]
          - {id: phone-app, name: Phone, type: native, sign_on_policy: one-factor, grant_types: [password, jwt-bearer]}
        authenticators:
          - id: autphone
            type: custom_app
            name: Phone
            client: phone-app
            apns: {team_id: ABCDE12345, key_id: FGHIJ67890, key_file: AuthKey.p8, topic: com.example.phone}
        users:
          - login: jane@example.com
            password: Planted-Password-1
            totp_secret: PLANTEDTOTPSECRETAAAAAAAAA
            profile: {name: Jane, email: jane@example.com}
        """
}
