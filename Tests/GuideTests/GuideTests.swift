import AuthorizationServer
import Crypto
import Foundation
import TestSupport
import Testing

/// Compiles the code of the guides, runs their commands, and compares the shown output with the real output.
@Suite(
    "Guides",
    .enabled("Guides are run on Linux, with unshare (and leave to use it), ip and curl: run make setup-test", GuideShell.isEnabled))
struct GuideTests {
    @Test("The code of each guide compiles in Swift 6 mode without a warning", arguments: Guide.all)
    func code(of guide: Guide) async throws {
        let folder = TemporaryFolder()
        let sources = try GuideSources(guide, in: folder.url)
        for judgement in try await sources.compile(with: BuiltModules()) {
            #expect(judgement.isGood, "\(guide.name): \(judgement.text)")
        }
    }

    @Test(
        "The commands of each guide run and write the shown output", .serialized, .timeLimit(.minutes(5)), arguments: Guide.all)
    func commands(of guide: Guide) async throws {
        let folder = TemporaryFolder()
        let shell = GuideShell(guide, in: folder.url, with: BuiltModules())
        guard !shell.isEmpty else { return }
        let run = try await shell.run()
        #expect(run.status == 0, "\(guide.name): \(run.log)")
        let runnable = Set(shell.runnable.map(\.line))
        var last: Int?
        for block in guide.blocks {
            if block.language == "shell" { last = block.line }
            guard block.role == .output, last.map(runnable.contains) != false else { continue }
            let output = run.outputs[try #require(last, "\(block.place) follows no command.")] ?? ""
            #expect(ShownOutput(block.text).matches(output), "\(block.place) shows\n\(block.text)where this is written:\n\(output)")
        }
    }

    @Test("The org file sections that each guide shows can be loaded", arguments: Guide.all)
    func organizations(of guide: Guide) throws {
        let folder = TemporaryFolder()
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        try Data(P256.Signing.PrivateKey().pemRepresentation.utf8).write(to: folder.file("AuthKey.p8"))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder.file("AuthKey.p8").path)
        for block in guide.blocks where block.role == .orgFile {
            try Data(OrgFile.template(replacing: block.text).utf8).write(to: folder.file("org.yaml"))
            #expect(throws: Never.self, "\(block.place)") { _ = try OrgFile.load(path: folder.file("org.yaml").path()) }
        }
    }

    @Test("Every code block of the guides is compiled, run or compared by a test, except for the listed exceptions")
    func exceptions() {
        let exceptions = Guide.all.flatMap { guide in
            guide.blocks.compactMap { block -> String? in
                switch block.role {
                case .notRun(let reason): "\(guide.name), not run: \(reason)"
                case .onlyParsed(let reason): "\(guide.name), only parsed: \(reason)"
                default: nil
                }
            }
        }
        #expect(exceptions.sorted() == Self.known.sorted())
        let judged = Set(["swift", "shell"])
        for guide in Guide.all {
            for block in guide.blocks where !judged.contains(block.language) && block.role == .plain {
                // Every other block must be shown output or a file that a command reads.
                Issue.record("\(block.place): no test uses this block. Add a comment before it that says how to test it: see Guide.swift.")
            }
        }
        #expect(Guide.all.count > 20)
    }

    /// The blocks that no test compiles or runs, with their reasons.
    private static let known: [String] = [
        "Countersign, not run: it fetches and builds the project, which made these pages",
        "README, not run: it builds and tests all of this",
        "RunSeveralServers, not run: it builds the command",
        "RunTheServer, not run: it installs a package",
        "README, not run: it builds the command; the guides run the rest",
        "README, not run: the guide of the server runs it",
        "README, not run: the guide of the server runs it",
        "README, not run: the other guides start the sandbox",
        "UseTheCommandLine, not run: it asks the user; the guides about push run it with answers",
        "UseTheCommandLine, not run: it opens a browser",
        "UseTheCommandLine, not run: it waits for a browser",
        "UseTheCommandLine, not run: the sandbox's classic API offers no passkey",
        "AddASignInScreen, only parsed: SwiftUI is there on Apple's systems only",
        "AddASignInScreen, only parsed: SwiftUI is there on Apple's systems only",
        "AddASignInScreen, only parsed: SwiftUI is there on Apple's systems only",
        "AddASignInScreen, only parsed: Alamofire is no dependency of this package",
        "AddASignInScreen, only parsed: Apollo is no dependency of this package",
        "AddASignInScreen, only parsed: OpenAPIRuntime is no dependency of this package",
        "AddPasskeys, only parsed: AuthenticationServices is there on Apple's systems only",
        "AddPush, only parsed: SwiftUI is there on Apple's systems only",
        "CountersignUI, only parsed: SwiftUI is there on Apple's systems only",
        "PinTheCertificate, only parsed: Examples/GuideCode contains it, for Apple's systems",
        "PinTheCertificate, only parsed: Examples/GuideCode contains it, for Apple's systems",
        "README, only parsed: SwiftUI is there on Apple's systems only",
        "ShareASessionWithAnExtension, only parsed: Examples/GuideCode contains it, for Apple's systems",
        "ShareASessionWithAnExtension, only parsed: Examples/GuideCode contains it, for Apple's systems",
        "SignInInFiveMinutes, only parsed: Examples/GuideCode contains it, for Apple's systems",
        "SignInWithAPassword, only parsed: SwiftUI is there on Apple's systems only",
        "SignInWithAPassword, only parsed: SwiftUI is there on Apple's systems only",
        "TestTheUserInterface, only parsed: Examples/GuideCode contains it, for Apple's systems",
    ]
}

extension OrgFile {
    /// Returns the template with its own sections replaced by these sections.
    fileprivate static func template(replacing sections: String) -> String {
        func key(_ line: Substring) -> Substring? { line.first.map { $0.isLetter } == true ? line.prefix { $0 != ":" } : nil }
        let replaced = Set(sections.split(separator: "\n").compactMap(key))
        var isKept = true
        let kept = template.split(separator: "\n").filter { line in
            if let key = key(line) { isKept = !replaced.contains(key) }
            return isKept
        }
        return kept.joined(separator: "\n") + "\n" + sections
    }
}
