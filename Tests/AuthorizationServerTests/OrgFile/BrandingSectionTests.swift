import Foundation
import Testing

@testable import AuthorizationServer
@testable import SignInPages

@Suite("Section branding of the org file")
struct BrandingSectionTests {
    private static let head = "name: Test\norigin: https://id.test\nbranding:\n"

    private static func load(_ section: String) throws -> Branding { try OrgFile.load(yaml: head + section).branding }

    private static func problem(_ section: String) throws -> OrgFileError.Problem {
        let error = #expect(throws: OrgFileError.self) { _ = try load(section) }
        return try #require(error?.problems.first)
    }

    /// Runs a test with a logo and an org file that names it.
    private static func withLogo(_ name: String, _ bytes: [UInt8], _ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "branding-\(ProcessInfo.processInfo.globallyUniqueString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data(bytes).write(to: folder.appending(path: name))
        let file = folder.appending(path: "org.yaml")
        try Data((head + "  logo: \(name)\n").utf8).write(to: file)
        try body(file.path)
    }

    @Test("If the org file has no section branding, the pages have the default branding")
    func absent() throws {
        #expect(try OrgFile.load(yaml: "name: Test\norigin: https://id.test\n").branding == Branding())
        #expect(Branding().stylesheet.isEmpty)
    }

    @Test("The branding name and both accent colors are read from the org file, and text on each color has enough contrast")
    func colours() throws {
        let branding = try Self.load("  name: Example Inc.\n  accent: \"#7a1fa2\"\n  accent_dark: \"#E0B0FF\"\n")
        #expect(branding.name == "Example Inc.")
        #expect(branding.accent?.hex == "#7a1fa2" && branding.accentDark?.hex == "#e0b0ff")
        for color in [branding.accent, branding.accentDark].compactMap({ $0 }) {
            #expect(color.contrast(with: color.ink) >= BrandColor.leastContrast)
        }
        #expect(branding.stylesheet.contains("@media (prefers-color-scheme: light) { :root { --brand: #7a1fa2; --brand-ink: #ffffff; }"))
        #expect(branding.stylesheet.contains("@media (prefers-color-scheme: dark) { :root { --brand: #e0b0ff; --brand-ink: #06100f; }"))
    }

    @Test(
        "From a single accent color, the server derives an accent color with enough contrast for dark pages",
        arguments: ["#0f5c5a", "#000000", "#7a1fa2", "#b00020"])
    func derived(colour: String) throws {
        let branding = try Self.load("  accent: \"\(colour)\"\n")
        let dark = try #require(branding.accentDark)
        #expect(dark.contrast(with: .darkCard) >= BrandColor.leastContrast)
        #expect(dark.contrast(with: dark.ink) >= BrandColor.leastContrast)
    }

    @Test("The contrast of two colors is computed by the WCAG formula")
    func contrast() throws {
        let white = try #require(BrandColor("#ffffff"))
        #expect(abs(white.contrast(with: try #require(BrandColor("#000000"))) - 21) < 0.001)
        #expect(abs(white.contrast(with: try #require(BrandColor("#777777"))) - 4.478) < 0.001)
        #expect(white.contrast(with: white) == 1)
    }

    @Test(
        "An invalid branding value is reported with its line, its key and a correction",
        arguments: [
            ("  accent: \"#ffff00\"\n", "branding.accent", "its contrast is 1.07:1, and 4.5:1 is needed. Use #"),
            ("  accent_dark: \"#102030\"\n", "branding.accent_dark", "hard to read on dark pages"),
            ("  accent: teal\n", "branding.accent", "is no colour. Write red, green and blue in hexadecimal"),
            ("  accent: \"#12345\"\n", "branding.accent", "is no colour"),
            ("  accent: \"#+12345\"\n", "branding.accent", "is no colour"),
            ("  logo: nowhere.svg\n", "branding.logo", "can not be read. Name a PNG or SVG file"),
            ("  color: x\n", "branding.color", "Unknown key color"),
        ])
    func mistakes(section: String, key: String, hint: String) throws {
        let problem = try Self.problem(section)
        #expect(problem.line == 4 && problem.key == key)
        #expect(problem.message.contains(hint), "\(problem.message)")
    }

    @Test("The color that the error about an invalid accent color suggests is accepted")
    func suggestion() throws {
        let message = try Self.problem("  accent: \"#ffff00\"\n").message
        let suggested = try #require(message.firstMatch(of: /Use (#[0-9a-f]{6})/)?.1)
        #expect(try Self.load("  accent: \"\(suggested)\"\n").accent?.hex == String(suggested))
    }

    @Test("A branding logo is accepted if its content is PNG or SVG, and rejected if it is larger than 100 KiB")
    func logos() throws {
        let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0]
        let svg = Array("<?xml version=\"1.0\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\"/>".utf8)
        for (name, bytes, kind) in [("a.png", png, Branding.Logo.Kind.png), ("a.svg", svg, .svg), ("wrong.png", svg, .svg)] {
            try Self.withLogo(name, bytes) { (path) throws in
                #expect(try OrgFile.load(path: path).branding.logo == .init(kind: kind, bytes: bytes))
            }
        }
        let refused: [(bytes: [UInt8], hint: String)] = [
            (Array("GIF89a".utf8), "is neither PNG nor SVG"),
            (Array("<html></html>".utf8), "is neither PNG nor SVG"),
            (png + [UInt8](repeating: 0, count: Branding.Logo.mostBytes), "has more than 100 KiB"), ([], "is neither PNG nor SVG"),
        ]
        for (bytes, hint) in refused {
            try Self.withLogo("a.png", bytes) { (path) throws in
                let error = #expect(throws: OrgFileError.self) { _ = try OrgFile.load(path: path) }
                let problem = try #require(error?.problems.first)
                #expect(problem.message.contains(hint))
            }
        }
    }
}
