import Foundation
import TestSupport
import Testing

#if os(Linux)
/// A hostile issuer tries to fill the memory of the processes that read its responses.
@Suite("Attacks: endless responses")
struct EndlessResponseTests {
    /// The maximum memory of the command in bytes. It is far above the need of the command, and far below the size of any response.
    private static let memoryLimit = 400 << 20

    struct Response: Sendable, CustomTestStringConvertible {
        let name: String
        let answer: HostileServer.Answer
        var testDescription: String { name }
    }

    static let responses = [
        Response(name: "an endless body", answer: .endless("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")),
        Response(
            name: "endless chunks",
            answer: .endless(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                Array("10000\r\n".utf8) + [UInt8](repeating: 0x20, count: 65_536) + Array("\r\n".utf8))),
        Response(name: "endless gzip", answer: .gzip("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n")),
        Response(name: "a gigabyte by its Content-Length", answer: .endless("HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n")),
        Response(name: "an endless error", answer: .endless("HTTP/1.1 400 Bad Request\r\n\r\n")),
    ]

    @Test(
        "If the issuer sends an endless response, a command fails, and its memory stays bounded", .timeLimit(.minutes(5)),
        arguments: responses)
    func boundedMemory(_ response: Response) async throws {
        let server = try HostileServer { _ in response.answer }
        let issuer = "http://127.0.0.1:\(server.port)/oauth2/default"
        let folder = try TemporaryFolder()
        let commands: [(arguments: [String], input: String)] = [
            // Requests of the client.
            (["doctor", "--issuer", issuer, "--client-id", "app"], ""),
            // Requests of the resource server.
            (["token", "verify", "--issuer", issuer], Self.token),
            // Requests of the phone.
            (["phone", "enroll", "--uri", "http://127.0.0.1:\(server.port)/enroll/x#client_id=app&ticket=ticket"], ""),
            // Requests of the classic SDK.
            (["sign-in", "classic", "jane", "--issuer", "http://127.0.0.1:\(server.port)"], "password\n"),
        ]
        for command in commands {
            let ended = try await Self.measured(
                command.arguments, input: command.input, environment: ["COUNTERSIGN_PHONE": folder.path + "phone"])
            #expect((1...3).contains(ended.status), "\(command.arguments): \(ended.status), \(ended.output)\(ended.errors)")
            let peak = try #require(ended.errors.firstMatch(of: /peak (\d+)/).flatMap { Int($0.1) }, "\(ended.errors)")
            #expect(peak * 1024 < Self.memoryLimit, "\(command.arguments) used \(peak / 1024) MiB.")
        }
    }

    private static let token = "eyJhbGciOiJSUzI1NiIsImtpZCI6ImEifQ.e30.c2ln\n"

    /// Runs the command, and appends the peak of its resident memory in kibibytes to its standard error.
    ///
    /// The peak is from the process status of Linux, which covers only the program itself. The value of `wait4` would include the memory of
    /// the test process that started it.
    private static func measured(
        _ arguments: [String], input: String, environment: [String: String]
    ) async throws -> ChildProcess.Ended {
        let script = """
            exec 3<&0; "$@" <&3 & p=$!
            while kill -0 $p 2>/dev/null; do
              m=$(sed -n 's/^VmHWM:[^0-9]*\\([0-9]*\\).*/\\1/p' /proc/$p/status 2>/dev/null); [ -n "$m" ] && peak=$m
              sleep 0.02
            done
            wait $p; s=$?; echo "peak $peak" >&2; exit $s
            """
        return try await ChildProcess.run(
            URL(filePath: "/bin/sh"), ["-c", script, "sh", try Command.executable.path()] + arguments, input: input,
            environment: environment)
    }
}
#endif
