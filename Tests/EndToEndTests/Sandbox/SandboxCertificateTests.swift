import CountersignSandbox
import Foundation
import TestSupport
import Testing

@Suite(
    "The sandbox's certificates", .timeLimit(.minutes(5)),
    .enabled(if: OutsidePart.python.isEnabled, Comment(rawValue: OutsidePart.python.missingNote)))
struct SandboxCertificateTests {
    private func fetch(_ sandboxes: [Sandbox], trusting authorities: [LocalAuthority]) async throws -> ChildProcess.Ended {
        let folder = try TemporaryFolder()
        // The files are concatenated unchanged, as by `cat a.pem b.pem`.
        let bundle = try folder.write(
            authorities.map { try String(contentsOf: $0.certificateFile, encoding: .utf8) }.joined(), to: "all.pem")
        return try await ForeignProgram.run(
            .python,
            [OutsidePart.scripts.appending(path: "strict_tls.py").path, bundle]
                + sandboxes.map { $0.origin.absoluteString + "/health/ready" },
            input: "")
    }

    @Test("A client with strict certificate checks, such as Python 3.13, accepts the sandbox's certificate")
    func strictClient() async throws {
        let folder = try TemporaryFolder()
        try await withSandbox(.init(host: "localhost", usesTLS: true, folder: folder.url)) { sandbox in
            let ended = try await fetch([sandbox], trusting: [try #require(sandbox.authority)])
            #expect(ended.status == 0, "\(ended.errors)")
        }
    }

    @Test("A client that trusts the certificate authorities of two sandboxes can connect to both sandboxes")
    func twoAuthorities() async throws {
        let folders = [try TemporaryFolder(), try TemporaryFolder()]
        try await withSandbox(.init(host: "localhost", usesTLS: true, folder: folders[0].url)) { first in
            try await withSandbox(.init(host: "localhost", usesTLS: true, folder: folders[1].url)) { second in
                let authorities = [try #require(first.authority), try #require(second.authority)]
                for order in [authorities, authorities.reversed()] {
                    let ended = try await fetch([first, second], trusting: order)
                    #expect(ended.status == 0, "\(ended.errors)")
                }
                // An authority is valid only for its own sandbox.
                #expect(try await fetch([first], trusting: [authorities[1]]).status != 0)
            }
        }
    }

    @Test("Every PEM file of a sandbox's certificate authority ends with a newline, and reopening the authority keeps its certificate")
    func files() async throws {
        let folder = try TemporaryFolder()
        let authority = try LocalAuthority(folder: folder.url, now: Date())
        for name in ["sandbox-ca.pem", "sandbox-ca.key"] {
            let text = try folder.text(name)
            #expect(text.hasPrefix("-----BEGIN ") && text.hasSuffix("-----\n"), "\(name)")
        }
        let (chain, key) = try authority.issueCertificate(now: Date())
        #expect(chain.hasSuffix("-----\n") && key.hasSuffix("-----\n") && !chain.contains("----------"))
        let again = try LocalAuthority(folder: folder.url, now: Date())
        #expect(again.certificatePEM == authority.certificatePEM)
        let other = try TemporaryFolder()
        #expect(try LocalAuthority(folder: other.url, now: Date()).name != authority.name)
    }

    @Test("countersign trust prints different certificate file names for two certificate authorities")
    func trustCommand() async throws {
        var targets: Set<Substring> = []
        for _ in 0..<2 {
            let folder = try TemporaryFolder()
            _ = try LocalAuthority(folder: folder.url, now: Date())
            let ended = try await Command.run(["trust", "--data", folder.url.path])
            #expect(ended.status == 0, "\(ended.errors)")
            let target = try #require(ended.output.split(separator: "\n").first { $0.contains("/usr/local/share/ca-certificates/") })
            targets.insert(try #require(target.split(separator: "/").last))
        }
        #expect(targets.count == 2, "\(targets)")
    }
}
