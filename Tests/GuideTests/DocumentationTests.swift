import CountersignSandbox
import Foundation
import JOSE
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Compares the documents' statements about the sandbox, tools and Apple's systems with the code.
@Suite("Documentation")
struct DocumentationTests {
    private static let guides = "Documentation/Countersign.docc/"
    private static let sandboxPage = "Sources/CountersignSandbox/CountersignSandbox.docc/CountersignSandbox.md"

    private func text(_ path: String) throws -> String {
        try String(contentsOf: OutsidePart.root.appending(path: path), encoding: .utf8)
    }

    /// Returns the names in backticks in a row of a table.
    private func names(inRow title: String, of path: String) throws -> Set<String> {
        let row = try #require(try text(path).split(separator: "\n").first { $0.hasPrefix("| \(title) |") }, "\(path) has no row \(title).")
        return Set(row.matches(of: #/`([^`]+)`/#).map { String($0.1) })
    }

    @Test(
        "The documentation's lists of the sandbox's applications contain exactly the applications and their secrets",
        arguments: [(guides + "TestWithTheSandbox.md", "Applications"), (sandboxPage, "Apps")])
    func applications(path: String, title: String) async throws {
        let sandbox = try await Sandbox.start(.init(listening: .inProcess))
        let applications = sandbox.applications
        await sandbox.stop()
        let named = try names(inRow: title, of: path)
        for application in applications {
            #expect(named.contains(application.clientID), "\(path) does not name \(application.clientID).")
            if let secret = application.secret { #expect(named.contains(secret), "\(path) has no secret of \(application.clientID).") }
        }
        let known = Set(applications.map(\.clientID))
        let unknown = named.filter { $0.contains(#/-app(-\d+)?$/#) && !known.contains($0) }
        #expect(unknown.isEmpty, "\(path) names \(unknown).")
    }

    @Test("The documentation page of the sandbox lists every call of the sandbox's control API")
    func calls() async throws {
        let sandbox = try await Sandbox.start()
        var request = URLRequest(url: sandbox.origin.appending(path: "/"))
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        let (data, _) = try await PlainHTTP.data(for: request)
        await sandbox.stop()
        let calls = try #require(try JSONValue(parsing: data)["control_api"]?.arrayValue)
        let page = try text(Self.sandboxPage)
        for call in calls {
            let name = "\(call["method"]?.stringValue ?? "") \(call["path"]?.stringValue ?? "")".replacing("after=0", with: "after=N")
            #expect(page.contains("| `\(name)` |"), "\(name) is not documented.")
        }
    }

    @Test("The README and the guides require the same version of Swift")
    func toolchain() throws {
        func version(_ path: String, _ pattern: Regex<(Substring, Substring)>) throws -> String {
            String(try #require(try text(path).firstMatch(of: pattern), "\(path) names no version of Swift.").1)
        }
        let needed = try version(Self.guides + "Countersign.md", #/you need Swift (\d+\.\d+) or newer/#)
        #expect(try version("README.md", #/a Swift toolchain of (\d+\.\d+) or newer/#) == needed)
        #expect(try version(Self.guides + "SignInWithAPassword.md", #/You need Swift (\d+\.\d+) or newer/#) == needed)
        #expect(try !text(Self.guides + "SignInWithAPassword.md").contains("Xcode 16"))
    }

    @Test("Every guide with an http URL in its Okta.plist shows the Info.plist exception for plain http")
    func plainHTTP() throws {
        for guide in Guide.all {
            let usesPlainHTTP = guide.blocks.contains { $0.role == .file("Okta.plist") && $0.text.contains("<string>http://") }
            let makesException = guide.blocks.contains { block in
                block.role == .file("Info.plist") && block.text.contains("NSExceptionAllowsInsecureHTTPLoads")
            }
            #expect(!usesPlainHTTP || makesException, "\(guide.name) has no Info.plist.")
        }
    }

    @Test("The password guide contains a complete app with a type that has the attribute @main")
    func mainApp() throws {
        let guide = try #require(Guide.all.first { $0.name == "SignInWithAPassword" })
        let isApp = guide.blocks.contains { $0.language == "swift" && $0.text.contains("@main") && $0.text.contains(": App {") }
        #expect(isApp)
    }

    @Test("The README's app with ready screens has at most 25 lines, and equals the example that is compiled")
    func readyScreens() throws {
        let readme = try #require(Guide.all.first { $0.name == "README" })
        let shown = try #require(readme.blocks.first { $0.text.contains("signInRequired") }).text
        #expect(try shown == text("Examples/SignInApp/App/SignIn.swift"))
        #expect(shown.split(separator: "\n", omittingEmptySubsequences: false).dropLast().count <= 25)
    }

    @Test("Every guide block that is marked as part of Examples/GuideCode is in it, and a guide shows each of its files")
    func appleCode() throws {
        let folder = OutsidePart.root.appending(path: "Examples/GuideCode")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        let compiled = try names.map { try text("Examples/GuideCode/\($0)") }
        let blocks = Guide.all.flatMap(\.blocks).filter {
            $0.role == .onlyParsed(reason: "Examples/GuideCode contains it, for Apple's systems")
        }
        #expect(blocks.count >= names.count)
        for block in blocks { #expect(compiled.contains { $0.contains(block.text) }, "\(block.place) is not in Examples/GuideCode.") }
        let shown = blocks.map(\.text)
        for (name, file) in zip(names, compiled) { #expect(shown.contains { file.contains($0) }, "No guide shows \(name).") }
    }

    @Test("The CI workflow in the guide about tests installs countersign before starting the sandbox")
    func workflow() throws {
        let guide = try #require(Guide.all.first { $0.name == "TestWithTheSandbox" })
        let block = try #require(guide.blocks.first { $0.role == .file(".github/workflows/tests.yml") })
        let installs = try #require(block.text.range(of: "GITHUB_PATH"), "Nothing puts the command on the path.")
        let uses = try #require(block.text.range(of: "countersign sandbox"))
        #expect(block.text.contains("scripts/release") && installs.lowerBound < uses.lowerBound)
    }

    @Test("Every guide that asks for an approval on Jane's phone sets up the phone first")
    func phone() throws {
        for guide in Guide.all where guide.name != "README" {
            let text = try String(contentsOf: guide.url, encoding: .utf8)
            guard let approval = text.firstMatch(of: #/approval on (her|Jane's) phone/#) else { continue }
            let before = text[..<approval.range.lowerBound]
            #expect(before.contains("/sandbox/phones -d") || before.contains("countersign phone enroll"), "\(guide.name)")
        }
    }

    @Test("No SwiftUI preview in the sources or the guides uses await, because a preview with await does not compile")
    func previews() throws {
        let files = FileManager.default.enumerator(at: OutsidePart.root.appending(path: "Sources"), includingPropertiesForKeys: nil)
        var texts = (files?.compactMap { $0 as? URL } ?? []).filter { ["swift", "md"].contains($0.pathExtension) }
        texts += Guide.all.map(\.url)
        for url in texts {
            let text = try String(contentsOf: url, encoding: .utf8)
            #expect(text.firstMatch(of: #/#Preview[^{\n]*\{[^}]*\bawait\b/#) == nil, "\(url.lastPathComponent)")
        }
    }

    @Test("The README does not claim that the code was compiled for Apple's systems, and shows every picture of Documentation/Pictures")
    func readme() throws {
        let readme = try text("README.md")
        #expect(!readme.contains("compiled for Apple's systems"))
        let pictures = try FileManager.default.contentsOfDirectory(atPath: OutsidePart.root.appending(path: "Documentation/Pictures").path)
        #expect(!pictures.isEmpty)
        for picture in pictures { #expect(readme.contains("src=\"Documentation/Pictures/\(picture)\""), "\(picture) is not shown.") }
    }

    @Test(
        "Documents about Face ID name the Info.plist key NSFaceIDUsageDescription, which iOS requires",
        arguments: [
            guides + "BecomeAPushAuthenticator.md", "Examples/README.md",
            "Sources/DeviceAuthenticator/DeviceAuthenticator.docc/DeviceAuthenticator.md",
        ])
    func face(path: String) throws {
        #expect(try text(path).contains("NSFaceIDUsageDescription"))
    }
}
