import Foundation
import TestSupport
import Testing

/// Tests that the reference documents the whole public API.
@Suite("Reference", .enabled("The symbols are read on Linux", GuideShell.isEnabled))
struct ReferenceTests {
    /// The parts of the output of `swift-symbolgraph-extract` that the test needs.
    private struct Graph: Decodable {
        struct Symbol: Decodable {
            struct Documentation: Decodable {}
            let pathComponents: [String]
            let docComment: Documentation?
        }
        let symbols: [Symbol]
    }

    @Test(
        "Every public symbol of each module is documented",
        arguments: [
            "JOSE", "JSON", "CommonSupport", "AuthFoundation", "OAuth2Auth", "BrowserSignin", "OktaDirectAuth", "DeviceAuthenticator",
            "CountersignUI", "OktaAuthSdk", "QRCode", "Delivery", "AuthorizationServer", "ResourceServer", "CountersignSandbox",
        ])
    func symbols(of module: String) async throws {
        let folder = TemporaryFolder()
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let target = try await target
        // Synthesized members are left out, and a symbol can inherit the comment of its protocol.
        let ended = try await ChildProcess.run(
            URL(filePath: "\(GuideSources.toolchain)/bin/swift-symbolgraph-extract"),
            [
                "-module-name", module, "-target", target, "-minimum-access-level", "public", "-skip-synthesized-members", "-output-dir",
                folder.url.path(),
            ] + BuiltModules().arguments)
        try #require(ended.status == 0, "\(ended.errors)")
        var count = 0
        for file in try folder.names {
            let graph = try JSONDecoder().decode(Graph.self, from: Data(contentsOf: folder.file(file)))
            count += graph.symbols.count
            let silent = graph.symbols.filter { $0.docComment == nil }.map { $0.pathComponents.joined(separator: ".") }
            #expect(silent.isEmpty, "\(module): \(silent.sorted().joined(separator: ", "))")
        }
        #expect(count > 0)
    }

    /// The target triple of the built modules.
    private var target: String {
        get async throws {
            let ended = try await ChildProcess.run(URL(filePath: "\(GuideSources.toolchain)/bin/swiftc"), ["-print-target-info"])
            struct Info: Decodable {
                struct Target: Decodable { let triple: String }
                let target: Target
            }
            return try JSONDecoder().decode(Info.self, from: Data(ended.output.utf8)).target.triple
        }
    }
}
