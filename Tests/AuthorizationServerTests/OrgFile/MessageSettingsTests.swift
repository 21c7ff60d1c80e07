import Testing

@testable import AuthorizationServer

@Suite("Section messages of the org file")
struct MessageSettingsTests {
    private func problems(_ section: String) throws -> [String] {
        let yaml = "name: Test\norigin: https://id.example.com\nmessages:\n" + section
        do {
            _ = try OrgFile.load(yaml: yaml)
            return []
        } catch let error as OrgFileError {
            return error.problems.map { "\($0.line) \($0.key): \($0.message)" }
        }
    }

    @Test(
        "Invalid message settings are rejected with their line, key and reason",
        arguments: [
            (
                "  mail: {host: mail.example.com, from: id@example.com, security: none_on_this_machine}\n",
                "4 messages.mail: Mail goes to mail.example.com unencrypted only if that is this machine. Use STARTTLS or TLS."
            ),
            (
                "  mail: {host: mail.example.com, from: unknown}\n",
                "4 messages.mail: “unknown” is no mail address that mails can be sent from."
            ),
            (
                "  telephony: {url: 'http://hooks.example.com/', secret: s}\n",
                "4 messages.telephony: The telephony hook needs an https address, or an http address of this machine."
            ),
            (
                "  telephony: {url: 'https://hooks.example.com/'}\n",
                "4 messages.telephony: The telephony hook needs a secret or a signing key, by which it knows this server."
            ),
        ])
    func wrong(_ section: String, _ problem: String) throws { #expect(try problems(section) == [problem]) }

    @Test("A telephony hook on a loopback address is accepted without TLS", arguments: ["127.0.0.1:9000", "localhost:9000", "[::1]:9000"])
    func hookOnThisMachine(_ host: String) throws {
        #expect(try problems("  telephony: {url: 'http://\(host)/', secret: s}\n") == [])
    }

    @Test("The org file accepts a mail server on the loopback interface and a telephony hook with a signing key")
    func right() throws {
        let section =
            "  mail: {host: 127.0.0.1, from: id@example.com, security: none_on_this_machine}\n  telephony: {url: 'https://h.example.com/', signing_key: k}\n"
        #expect(try problems(section) == [])
    }
}
