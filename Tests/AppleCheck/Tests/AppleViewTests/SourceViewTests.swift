import AppleView
import Testing

@Suite("Source files as Apple's systems see them")
struct SourceViewTests {
    private static func text(_ source: String, _ system: AppleSystem, isStub: Bool = false) throws -> String {
        let view = SourceView(system, frameworks: ["UIKit": [.iOS, .tvOS, .visionOS]], modules: ["Own"], isStub: isStub)
        return try view.text(of: source).split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.trimmingSuffix { $0 == " " } }.joined(separator: "\n")
    }

    @Test("Only the active clause of a condition remains, and lines keep their numbers")
    func conditions() throws {
        let source = "#if canImport(UIKit) && !os(tvOS)\nlet a = 1\n#elseif canImport(Own)\nlet a = 2\n#else\nlet a = 3\n#endif\nlet b = 4"
        #expect(try Self.text(source, AppleSystem(.iOS, nil)) == "\nlet a = 1\n\n\n\n\n\nlet b = 4")
        #expect(try Self.text(source, AppleSystem(.tvOS, nil)) == "\n\n\nlet a = 2\n\n\n\nlet b = 4")
    }

    @Test("A condition about a module without known platforms is an error")
    func unknownModule() {
        #expect(throws: SourceView.Problem.self) { try Self.text("#if canImport(ARKit)\n#endif", AppleSystem(.iOS, nil)) }
    }

    @Test("A branch that needs a newer system is left out on an older one")
    func branches() throws {
        let source = "if #available(iOS 18, *), let a = b() { new(a) } else { old() }\nrest()"
        #expect(try Self.text(source, AppleSystem(.iOS, SystemVersion(17))).contains("if false"))
        #expect(try !Self.text(source, AppleSystem(.iOS, SystemVersion(17))).contains("new"))
        #expect(try Self.text(source, AppleSystem(.iOS, SystemVersion(18))) == source)
        #expect(try Self.text(source, AppleSystem(.macOS, SystemVersion(14))) == source)
    }

    @Test("After a guard for a newer system, only its exit remains on an older one")
    func guards() throws {
        let source = "func f() {\n  guard #available(iOS 17.4, *) else { return old() }\n  new()\n}\nfunc g() { new() }"
        let text = try Self.text(source, AppleSystem(.iOS, SystemVersion(17)))
        #expect(text.contains("do ") && text.contains("{ return old() }") && text.contains("func g() { new() }"))
        #expect(text.split(separator: "\n").count == 4)
        #expect(try Self.text(source, AppleSystem(.iOS, SystemVersion(17, 4))) == source)
    }

    @Test(
        "A declaration for a newer system, or not for this platform, is left out",
        arguments: [
            "@available(iOS 18, *)", "@available(iOS, introduced: 18)", "@available(iOS, unavailable)",
        ])
    func declarations(_ attribute: String) throws {
        let source = "\(attribute)\nfunc f() {}\nfunc g() {}"
        #expect(try Self.text(source, AppleSystem(.iOS, SystemVersion(17))) == "\n\nfunc g() {}")
        #expect(try Self.text(source, AppleSystem(.macOS, SystemVersion(14))) == source)
    }

    @Test("A stub whose list of versions does not name the platform does not exist there")
    func stubs() throws {
        let source = "@available(iOS 13.0, macOS 10.15, *)\nfunc f() {}"
        #expect(try Self.text(source, AppleSystem(.watchOS, nil), isStub: true) == "\n")
        #expect(try Self.text(source, AppleSystem(.macOS, SystemVersion(14)), isStub: true) == source)
    }

    @Test("Foundation is imported with its parts, with the same access")
    func foundation() throws {
        let text = try Self.text("public import Foundation\nimport Own", AppleSystem(.iOS, nil))
        #expect(
            text == "public import Foundation; public import FoundationNetworking; public import CoreFoundationStubs\nimport Own")
    }

    @Test("Foundation is imported with its parts also inside a condition")
    func foundationInCondition() throws {
        let source = "#if canImport(FoundationNetworking)\nimport Foundation\n#else\npublic import Foundation\n#endif"
        let text = try Self.text(source, AppleSystem(.iOS, nil))
        #expect(text.contains("public import Foundation; public import FoundationNetworking; public import CoreFoundationStubs"))
    }

    @Test("Attributes of Objective-C disappear, and a preview becomes a function")
    func attributes() throws {
        #expect(try Self.text("@objc func f() {}", AppleSystem(.iOS, nil)) == "      func f() {}")
        let preview = try Self.text("#Preview(\"A\") {\n  Text(\"b\")\n}", AppleSystem(.iOS, nil))
        #expect(preview.hasPrefix("@MainActor private func preview1() { previewed") && preview.hasSuffix("} }"))
    }

    @Test("The versions of conditions and attributes are found for each platform")
    func versions() {
        let source = "if #available(iOS 17.4, macOS 14.4, *) {}\n@available(iOS 18, *) func f() {}"
        #expect(SourceView.versions(in: source, of: .iOS) == [SystemVersion(17, 4), SystemVersion(18)])
        #expect(SourceView.versions(in: source, of: .tvOS) == [])
    }
}

extension Substring {
    fileprivate func trimmingSuffix(_ isBlank: (Character) -> Bool) -> Substring {
        var text = self
        while let last = text.last, isBlank(last) { text.removeLast() }
        return text
    }
}
