import ArgumentParser
import CountersignSandbox
import Foundation

/// Shows the commands by which systems trust the sandbox's certificate authority. With `--install`, runs those of this system.
struct TrustCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trust",
        abstract: "Show the commands that make a machine trust the sandbox's certificate authority, or run them with --install.",
        discussion: """
            The authority can speak for localhost only. Without --install nothing is written; the commands are shown. `countersign sandbox \
            --tls` creates the authority, and so does --install if there is none yet.
            """)

    @Flag(help: "Run the commands for this system. Most need administrator rights.")
    var install = false

    @Option(help: ArgumentHelp("The folder of the sandbox, if it was started with --data.", valueName: "folder"))
    var data: String?

    func run() async throws {
        try await Outcome.of {
            let folder = data.map { URL(filePath: $0, directoryHint: .isDirectory) } ?? LocalAuthority.standardFolder()
            guard install || LocalAuthority.exists(in: folder) else {
                throw CommandFailure(
                    "There is no authority in \(folder.path()) yet. `countersign sandbox --tls` creates one, and so does `countersign trust --install`."
                )
            }
            let authority = try LocalAuthority(folder: folder, now: Date())
            let file = authority.certificateFile.path()
            Terminal.write("The sandbox's authority is \(file).\n")
            let name = authority.fileName
            for target in TrustTarget.all(certificate: file, named: name) {
                Terminal.write(Terminal.styled("\(target.name)", .bold))
                for command in target.commands { Terminal.write("  \(command.joined(separator: " "))") }
            }
            Terminal.write("To trust it in one program only, without installing:")
            Terminal.write("  curl --cacert \(file) …\n  SSL_CERT_FILE=\(file) python3 …")
            guard install else { return }
            guard let target = TrustTarget.current(certificate: file, named: name) else {
                throw CommandFailure("This system's trust store is not supported. Add \(file) to it manually.")
            }
            for command in target.commands { try await run(command) }
            Terminal.write("Installed for \(target.name).")
        }
    }

    private func run(_ command: [String]) async throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = command
        let status = try await process.status()
        guard status == 0 else {
            throw CommandFailure(
                "`\(command.joined(separator: " "))` failed with exit code \(status). If permission was denied, run countersign trust "
                    + "--install as an administrator.")
        }
    }
}

/// A trust store, and the commands that add a certificate authority to it.
struct TrustTarget {
    let name: String
    let commands: [[String]]

    /// Returns all trust stores. In a folder of trusted authorities, the certificate file gets the name `name`, with the extension that the
    /// store requires.
    static func all(certificate: String, named name: String) -> [TrustTarget] {
        [
            debian(certificate, name), fedora(certificate, name), macOS(certificate),
            TrustTarget(
                name: "iOS simulator (booted)", commands: [["xcrun", "simctl", "keychain", "booted", "add-root-cert", certificate]]),
        ]
    }

    /// Returns the trust store of this system; `nil` if it is unknown.
    static func current(certificate: String, named name: String) -> TrustTarget? {
        #if os(macOS)
        return macOS(certificate)
        #else
        let files = FileManager.default
        if files.fileExists(atPath: "/usr/sbin/update-ca-certificates") { return debian(certificate, name) }
        if files.fileExists(atPath: "/usr/bin/update-ca-trust") { return fedora(certificate, name) }
        return nil
        #endif
    }

    private static func debian(_ certificate: String, _ name: String) -> TrustTarget {
        TrustTarget(
            name: "Debian, Ubuntu",
            commands: [
                ["install", "-m", "644", certificate, "/usr/local/share/ca-certificates/\(name).crt"],
                ["update-ca-certificates"],
            ])
    }

    private static func fedora(_ certificate: String, _ name: String) -> TrustTarget {
        TrustTarget(
            name: "Fedora, Red Hat",
            commands: [
                ["install", "-m", "644", certificate, "/etc/pki/ca-trust/source/anchors/\(name).pem"], ["update-ca-trust"],
            ])
    }

    private static func macOS(_ certificate: String) -> TrustTarget {
        TrustTarget(
            name: "macOS",
            commands: [
                ["security", "add-trusted-cert", "-d", "-r", "trustRoot", "-k", "/Library/Keychains/System.keychain", certificate]
            ])
    }
}

extension Process {
    /// Runs the process and returns its exit status.
    func status() async throws -> Int32 {
        try await withCheckedThrowingContinuation { continuation in
            terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do {
                try run()
            } catch {
                terminationHandler = nil
                continuation.resume(throwing: error)
            }
        }
    }
}
