import SwiftIfConfig
import SwiftParser
import SwiftSyntax

/// A source file as the compiler sees it on one of Apple's systems, in a form that compiles on Linux.
///
/// - Inactive `#if` clauses, declarations that the system lacks, and branches of `#available` that it does not take become spaces. Lines
///   keep their numbers.
/// - `Foundation` brings URLSession and Core Foundation, which are other modules here.
/// - `@objc` disappears, and `#Preview` becomes a function, because Linux has neither.
public struct SourceView: Sendable {
    public let system: AppleSystem
    public let frameworks: [String: Set<Platform>]
    public let modules: Set<String>
    /// Whether the files are stubs: each of their `@available` attributes names all platforms of its declaration.
    public let isStub: Bool

    public init(_ system: AppleSystem, frameworks: [String: Set<Platform>], modules: Set<String>, isStub: Bool = false) {
        (self.system, self.frameworks, self.modules, self.isStub) = (system, frameworks, modules, isStub)
    }

    /// A condition or attribute that cannot be evaluated.
    public struct Problem: Error, CustomStringConvertible {
        public let description: String
    }

    /// Returns the file as the system sees it.
    public func text(of source: String) throws -> String {
        let tree = Parser.parse(source: source)
        let visitor = Blanking(
            self, configuration: AppleConfiguration(platform: system.platform, frameworks: frameworks, modules: modules))
        visitor.walk(tree)
        if let problem = visitor.problems.first { throw Problem(description: problem) }
        return visitor.edits.applied(to: source)
    }

    /// Returns the versions of the platform that the file's conditions and attributes name.
    public static func versions(in source: String, of platform: Platform) -> Set<SystemVersion> {
        let visitor = VersionVisitor(platform)
        visitor.walk(Parser.parse(source: source))
        return visitor.versions
    }
}

/// Replacements of byte ranges.
struct Edits {
    private var all: [(range: Range<Int>, text: String)] = []

    /// Replaces a range by a text and spaces, and keeps its line breaks. An empty range inserts the text.
    mutating func replace(_ range: Range<Int>, by text: String = "") { all.append((range, text)) }

    /// Returns the source with all replacements. A text inside the range of a larger replacement is left out.
    func applied(to source: String) -> String {
        var bytes = Array(source.utf8)
        for index in all.flatMap(\.range) where bytes[index] != UInt8(ascii: "\n") { bytes[index] = UInt8(ascii: " ") }
        let texts = all.filter { edit in !edit.text.isEmpty && !all.contains { $0.range.encloses(edit.range) } }
        for edit in texts.sorted(by: { $0.range.lowerBound > $1.range.lowerBound }) {
            bytes.insert(contentsOf: edit.text.utf8, at: edit.range.lowerBound)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension Range<Int> {
    /// Whether another range, or the place of an insertion, is inside the range and not only at its border.
    fileprivate func encloses(_ other: Self) -> Bool {
        other.isEmpty
            ? lowerBound < other.lowerBound && other.lowerBound < upperBound
            : count > other.count && lowerBound <= other.lowerBound && other.upperBound <= upperBound
    }
}

extension SyntaxProtocol {
    /// The bytes without the surrounding trivia.
    var bytes: Range<Int> { positionAfterSkippingLeadingTrivia.utf8Offset..<endPositionBeforeTrailingTrivia.utf8Offset }
}

/// Collects the versions that a file names.
private final class VersionVisitor: SyntaxVisitor {
    let platform: Platform
    var versions: Set<SystemVersion> = []

    init(_ platform: Platform) {
        self.platform = platform
        super.init(viewMode: .sourceAccurate)
    }

    override func visit(_ node: PlatformVersionSyntax) -> SyntaxVisitorContinueKind {
        if node.platform.text == platform.rawValue, let version = node.version { versions.insert(version.systemVersion) }
        return .skipChildren
    }
}
