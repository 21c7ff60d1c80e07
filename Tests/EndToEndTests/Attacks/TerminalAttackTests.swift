import Foundation
import JOSE
import TestSupport
import Testing

@testable import countersign

@Suite("Attacks: texts of a hostile issuer on the terminal")
struct TerminalAttackTests {
    /// Checks that a command wrote no control character and no line of the issuer.
    private func expectHarmless(_ ended: Command.Ended, _ name: String, showsIssuer: Bool = true) {
        for text in [ended.output, ended.errors] {
            let steering = text.unicodeScalars.filter { scalar in
                scalar != "\n" && (scalar.properties.generalCategory == .control || [0x2028, 0x2029, 0x202E].contains(scalar.value))
            }
            #expect(steering.isEmpty, "\(name) wrote \(steering.map { String($0.value, radix: 16) }): \(text.debugDescription)")
            let forged = text.split(separator: "\n").filter { $0.drop(while: { !$0.isLetter }).hasPrefix("FORGED") }
            #expect(forged.isEmpty, "\(name) wrote \(forged)")
        }
        #expect(
            !showsIssuer || (ended.output + ended.errors).contains("evil"),
            "\(name) showed nothing of the issuer: \(ended.output)\(ended.errors)")
    }

    @Test(
        "No command prints an escape sequence or a forged line from a hostile issuer's response", .timeLimit(.minutes(5)),
        arguments: [false, true])
    func commands(json: Bool) async throws {
        let server = try HostileIssuer()
        let folder = try TemporaryFolder()
        let more = json ? ["--json"] : []
        func run(_ arguments: String..., input: String = "") async throws -> Command.Ended {
            let ended = try await Command.run(
                arguments + more, input: input,
                environment: ["COUNTERSIGN_VAULT": folder.path + "vault", "COUNTERSIGN_PHONE": folder.path + "phone"])
            return ended
        }
        func check(_ name: String, _ ended: Command.Ended, showsIssuer: Bool = true) {
            expectHarmless(ended, name, showsIssuer: showsIssuer)
        }

        let client = ["--issuer", server.issuer, "--client-id", server.clientID]
        let signIn = try await run("sign-in", "password", "jane", client[0], client[1], client[2], client[3], input: "password\n")
        #expect(signIn.status == 0, "\(signIn.errors)")
        check("sign-in password", signIn)
        check("sign-in direct", try await run("sign-in", "direct", "jane", client[0], client[1], client[2], client[3], input: "password\n"))
        check(
            "sign-in device", try await run("sign-in", "device", client[0], client[1], client[2], client[3]))
        check(
            "sign-in classic", try await run("sign-in", "classic", "jane", "--issuer", server.issuer, input: "password\n1\nanswer\n"))
        check("credential list", try await run("credential", "list"))
        check("credential show", try await run("credential", "show"))
        check("credential user-info", try await run("credential", "user-info"))
        check("credential refresh", try await run("credential", "refresh"), showsIssuer: false)
        check("token print", try await run("token", "print"))
        check("token decode", try await run("token", "decode", input: Self.token + "\n"))
        check("credential revoke", try await run("credential", "revoke"))
        _ = try await run("sign-in", "password", "jane", client[0], client[1], client[2], client[3], input: "password\n")
        check("sign-out", try await run("sign-out", "--keep-session"))
        check(
            "phone enroll",
            try await run("phone", "enroll", "--uri", "\(server.issuer)/enroll/x#client_id=app&ticket=ticket"))
    }

    /// A token with hostile claims. It has no valid signature, because `token decode` verifies none.
    private static var token: String {
        let claims: JSONValue = ["sub": .string(HostileIssuer.text), "evil\u{1B}[2J\nFORGED": 1, "exp": .double(1e300)]
        func part(_ value: JSONValue) -> String { Base64URL.encode(Array(value.serializedString.utf8)) }
        return part(["alg": "none", "kid": .string(HostileIssuer.text)]) + "." + part(claims) + ".AAAA"
    }

    @Test(
        "A command prints a hostile issuer's error without control characters, and a password sign-in prints the error on one line",
        .timeLimit(.minutes(5)), arguments: [false, true])
    func refusals(json: Bool) async throws {
        let server = try HostileIssuer(refuses: true)
        let folder = try TemporaryFolder()
        for arguments in [["sign-in", "password", "jane"], ["sign-in", "direct", "jane"], ["doctor"], ["sign-in", "device"]] {
            let ended = try await Command.run(
                arguments + server.arguments + (json ? ["--json"] : []), input: "password\n",
                environment: ["COUNTERSIGN_VAULT": folder.path + "vault"])
            expectHarmless(ended, arguments.joined(separator: " "))
            if arguments[0] == "sign-in", arguments[1] != "device" {
                #expect(ended.status == 2)
                #expect((ended.output + ended.errors).split(separator: "\n").count == 1, "\(ended.errors)")
            }
        }
    }

    @Test("A value that is inserted into a terminal text can neither control the terminal nor begin a line")
    func terminalText() {
        let value = HostileIssuer.text
        let text: TerminalText = "name: \(value)\n\(7)"
        #expect(text.rendered.unicodeScalars.filter { $0 == "\n" }.count == 1)
        #expect(!text.rendered.contains("\u{1B}"))
        let styled: TerminalText = "\(TerminalText(value).styled(.bold))"
        #expect(styled.rendered.hasPrefix("\u{1B}[1m") && styled.rendered.hasSuffix("\u{1B}[0m"))
        #expect(styled.rendered.unicodeScalars.filter { $0 == "\u{1B}" }.count == 2)
    }

    @Test("JSON output escapes every character that could control the terminal, and still decodes to the original value")
    func jsonText() throws {
        let value: JSONValue = ["text": .string(HostileIssuer.text)]
        let line = JSONText.line(value)
        #expect(line.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control && ![0x2028, 0x202E].contains($0.value) })
        #expect(try JSONValue(parsing: line) == value)
    }

    @Test("Line wrapping breaks long lines at spaces, keeps the indent, and never breaks a word")
    func wrapping() {
        let secret = String(repeating: "s", count: 50)
        #expect(LineWrapping.wrap("  one two three four", columns: 12) == "  one two\n  three four")
        #expect(LineWrapping.wrap("take \(secret) now", columns: 20) == "take\n\(secret)\nnow")
        #expect(LineWrapping.wrap("short\n\nlines", columns: 20) == "short\n\nlines")
        let coloured = "\u{1B}[1m" + "12345 12345" + "\u{1B}[0m"
        #expect(LineWrapping.wrap(coloured, columns: 11) == coloured)
    }

    @Test("On a narrow terminal, countersign breaks long lines between words", .timeLimit(.minutes(1)))
    func narrowTerminal() async throws {
        let folder = try TemporaryFolder()
        let command = try Command.start(
            ["credential", "show"], .terminal,
            environment: ["COLUMNS": "40", "TERM": "xterm", "COUNTERSIGN_VAULT": folder.path + "vault", "NO_COLOR": "1"])
        let (status, text) = await command.end()
        #expect(status == 1)
        let lines = text.split(whereSeparator: \.isNewline)
        #expect(lines.count > 2 && lines.allSatisfy { $0.count <= 40 }, "\(text)")
        #expect(lines.allSatisfy { !$0.hasPrefix(" ") && !$0.hasSuffix(" ") }, "\(text)")
    }
}
