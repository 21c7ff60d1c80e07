import CountersignSandbox
import Crypto
import Foundation
import HTTPTypes
import JOSE
import Logging
import Testing

@testable import AuthorizationServer
@testable import IdentityCore
@testable import ServerHTTP
@testable import Store

@Suite("Attacks: secrets in descriptions")
struct RedactionTests {
    private static let pem = P256.Signing.PrivateKey().pemRepresentation
    private static let masterKey = Data("planted-master-key-of-32-bytes!!".utf8).base64EncodedString()

    /// An org file with a secret in each place that accepts one.
    private static let file = Result {
        try OrgFile.load(
            yaml: """
                name: Planted
                origin: https://id.example.com
                server: {master-key: \(masterKey)}
                sign_on_policies: [{name: one-factor, rules: [{name: All, require: one_factor}]}]
                messages:
                  mail: {host: mail.example.com, user: mailer, password: planted-mail-password, from: id@example.com}
                  telephony: {url: "https://hooks.example.com/", secret: planted-hook-secret, signing_key: planted-hook-key}
                applications:
                  - id: service
                    name: Service
                    type: service
                    authentication: client_secret_basic
                    secret: planted-client-secret-of-32-bytes
                    grant_types: [client_credentials]
                  - {id: phone-app, name: Phone, type: native, sign_on_policy: one-factor, grant_types: [password, jwt-bearer]}
                authenticators:
                  - id: autphone
                    type: custom_app
                    name: Phone
                    client: phone-app
                    apns: {team_id: ABCDE12345, key_id: FGHIJ67890, key: "${APNS_KEY}", topic: com.example.phone}
                users:
                  - login: jane@example.com
                    password: Planted-Password-1
                    totp_secret: PLANTEDTOTPSECRETAAAAAAAAA
                    hotp: {secret: PLANTEDHOTPSECRETAAAAAAAAA, credential_id: "1"}
                    profile: {name: Jane, email: jane@example.com}
                """, environment: ["APNS_KEY": pem])
    }

    private static var planted: [String] {
        pem.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("-----") } + [
            masterKey, "planted-", "Planted-Password-1", "PLANTEDTOTPSECRETAAAAAAAAA", "PLANTEDHOTPSECRETAAAAAAAAA",
        ]
    }

    private func expectNoSecret(_ value: Any, sourceLocation: SourceLocation = #_sourceLocation) {
        var dumped = ""
        dump(value, to: &dumped)
        for text in ["\(value)", String(describing: value), String(reflecting: value), dumped] {
            for secret in Self.planted where text.contains(secret) {
                Issue.record("\(type(of: value)) shows \(secret): \(text.prefix(300))", sourceLocation: sourceLocation)
            }
        }
    }

    @Test("Descriptions of the org file and of its parts contain no secret")
    func orgFile() throws {
        let file = try Self.file.get()
        expectNoSecret(file)
        expectNoSecret(file.organization)
        expectNoSecret(file.messages)
        for part in [file.messages.mail as Any, file.messages.telephony as Any] { expectNoSecret(part) }
        expectNoSecret(try #require(file.messages.mail).configuration())
        expectNoSecret(try #require(file.messages.telephony).configuration(origin: "https://id.example.com"))
        for part in file.organization.applications { expectNoSecret(part) }
        for part in file.organization.authenticators { expectNoSecret(part) }
        for part in file.organization.users {
            expectNoSecret(part)
            expectNoSecret(part.hardwareDevice as Any)
        }
    }

    @Test("Descriptions of the server's configuration contain neither the TLS key nor the master key")
    func configuration() throws {
        let configuration = AuthorizationServer.Configuration(
            tls: .init(certificateChain: .text(TestCertificate.certificate), privateKey: .text(Self.pem)),
            masterKey: .base64(Secret(Self.masterKey)))
        expectNoSecret(configuration)
        expectNoSecret(configuration.tls as Any)
        expectNoSecret(configuration.masterKey)
        expectNoSecret(AuthorizationServer.Configuration.PEM.text(Self.pem))
        let loaded = try AuthorizationServer.Configuration(commandLine: [:], environment: ["COUNTERSIGN_MASTER_KEY": Self.masterKey])
        expectNoSecret(loaded)
        #expect("\(configuration)".contains("127.0.0.1:8080"))
    }

    @Test("Descriptions of a server, its engine and its mail sender contain no secret")
    func server() async throws {
        let file = try Self.file.get()
        let environment = EngineEnvironment(
            random: SystemRandomSource(), masterKey: SymmetricKey(data: Data("planted-master-key-of-32-bytes!!".utf8)),
            passwordHasher: PasswordHasher(width: 1))
        let engine = Engine(store: InMemoryStore(), environment: environment)
        _ = try await engine.apply(
            file.organization, context: RequestContext(now: Date(timeIntervalSince1970: 1_800_000_000), requestID: "1"))
        let mail = try file.messages.makeSender(origin: "https://id.example.com", logger: .init(label: "test"))
        let server = AuthorizationServer(
            engine: engine,
            configuration: .init(port: 0, tls: .init(certificateChain: .text(TestCertificate.certificate), privateKey: .text(Self.pem))),
            messageSender: mail.sender)
        expectNoSecret(server)
        expectNoSecret(engine)
        expectNoSecret(environment)
        expectNoSecret(try await engine.snapshot().application("service") as Any)
        expectNoSecret(mail)
        await mail.shutdown()
    }

    @Test("Descriptions of a request and a response contain no body, query or header values")
    func exchange() {
        let head = HTTPRequest(
            method: .post, scheme: "https", authority: "id.example.com", path: "/oauth2/v1/token?login_hint=planted-query",
            headerFields: [.authorization: "Basic planted-header"])
        let context = RequestContext(now: Date(timeIntervalSince1970: 0), requestID: "1")
        expectNoSecret(ServerRequest(head: head, body: Array("password=Planted-Password-1".utf8), context: context))
        expectNoSecret(ServerResponse(status: .ok, headers: [.setCookie: "planted-cookie"], body: Array("planted-body".utf8)))
    }

    @Test("Descriptions of a sandbox's configuration, users and applications contain no secret")
    func sandbox() {
        expectNoSecret(
            Sandbox.Configuration(
                organization: "planted-org-file",
                users: [SandboxUser(login: "jane@example.com", password: "Planted-Password-1", totpSecret: "PLANTEDTOTPSECRETAAAAAAAAA")]))
        expectNoSecret(SandboxUser(login: "jane@example.com", password: "Planted-Password-1"))
        expectNoSecret(SandboxApplication(clientID: "app", secret: "planted-client-secret"))
    }
}
