import Foundation
import TestSupport

/// The Swift code of a guide, as source files for the compiler.
struct GuideSources {
    /// The result of a compilation.
    struct Judgement {
        let isGood: Bool
        let text: String
    }

    private let guide: Guide
    private let folder: URL

    /// Writes the source files of the guide into an empty folder.
    init(_ guide: Guide, in folder: URL) throws {
        self.guide = guide
        self.folder = folder
        for (index, block) in guide.blocks.enumerated() where block.language == "swift" {
            guard let path = Self.path(of: block, number: index) else { continue }
            let file = folder.appending(path: path)
            try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(Self.source(of: block, number: index).utf8).write(to: file)
        }
    }

    /// Compiles all sources as one module, in Swift 6 mode, and each package description by itself.
    func compile(with built: BuiltModules) async throws -> [Judgement] {
        let blocks = guide.blocks.enumerated().filter { $0.element.language == "swift" }
        let paths = blocks.compactMap { Self.path(of: $0.element, number: $0.offset) }
        let manifests = paths.filter { $0.hasSuffix("Package.swift") }
        let parsed = blocks.filter { if case .onlyParsed = $0.element.role { true } else { false } }
            .compactMap { Self.path(of: $0.element, number: $0.offset) }
        let sources = paths.filter { !manifests.contains($0) && !parsed.contains($0) }
        var judgements: [Judgement] = []
        if !sources.isEmpty {
            var arguments = ["-typecheck"] + built.arguments
            arguments += ["-module-name", "Guide", "-plugin-path", "\(Self.toolchain)/lib/swift/host/plugins/testing"]
            if !sources.contains(where: { $0.hasSuffix("main.swift") }) { arguments.append("-parse-as-library") }
            judgements.append(try await compiler(arguments, sources))
        }
        for manifest in manifests {
            let interface = "\(Self.toolchain)/lib/swift/pm/ManifestAPI"
            judgements.append(try await compiler(["-typecheck", "-I", interface, "-package-description-version", "6.1"], [manifest]))
        }
        if !parsed.isEmpty { judgements.append(try await compiler(["-parse"], parsed)) }
        return judgements
    }

    private func compiler(_ arguments: [String], _ files: [String]) async throws -> Judgement {
        let paths = files.map { folder.appending(path: $0).path() }
        let ended = try await ChildProcess.run(
            URL(filePath: "\(Self.toolchain)/bin/swiftc"), ["-swift-version", "6"] + arguments + paths)
        let text = ended.errors + ended.output
        // Parts of programs may leave results unused, and migration guides show deprecated API.
        let warnings = text.split(separator: "\n").filter { line in
            line.contains(": warning: ") && !["[#no-usage]", "[#DeprecatedDeclaration]"].contains { line.hasSuffix($0) }
        }
        return Judgement(isGood: ended.status == 0 && warnings.isEmpty, text: text)
    }

    /// The `usr` folder of the toolchain.
    static let toolchain: String = {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let folders = path.split(separator: ":").map { URL(filePath: String($0), directoryHint: .isDirectory) }
        let found = folders.first { FileManager.default.isExecutableFile(atPath: $0.appending(path: "swiftc").path()) }
        return found?.deletingLastPathComponent().path().trimmingSuffix("/") ?? "/usr"
    }()

    private static func path(of block: GuideBlock, number: Int) -> String? {
        switch block.role {
        case .file(let path): path
        case .notRun: nil
        default: "Block\(number).swift"
        }
    }

    /// Returns the contents of a source file, with a location that makes diagnostics name the line of the guide.
    private static func source(of block: GuideBlock, number: Int) -> String {
        let location = "#sourceLocation(file: \"\(block.place.prefix { $0 != ":" })\", line: \(block.line))\n"
        guard case .body(let asked) = block.role else {
            // The first line of a package description must be its tools version.
            return block.text.hasPrefix("// swift-tools-version") ? block.text : location + block.text
        }
        var lines = block.text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        var (imports, signature) = ("", asked)
        if signature.hasPrefix("import "), let end = signature.firstIndex(of: ";") {
            imports = signature.dropFirst(7)[..<end].split(separator: ",").map { "import\($0.first == " " ? "" : " ")\($0)\n" }.joined()
            signature = signature[signature.index(after: end)...].trimmingCharacters(in: .whitespaces)
        }
        if signature.isEmpty || signature == "@MainActor" { signature += " ()" }
        for index in lines.indices where lines[index].hasPrefix("import ") {
            imports += lines[index] + "\n"
            lines[index] = ""
        }
        let parameters = signature.replacing("@MainActor", with: "").trimmingCharacters(in: .whitespaces)
        let actor = signature.contains("@MainActor") ? "@MainActor " : ""
        return imports + "\(actor)func block\(number)\(parameters) async throws {\n" + location + lines.joined(separator: "\n") + "\n}\n"
    }
}

extension String {
    fileprivate func trimmingSuffix(_ suffix: String) -> String { hasSuffix(suffix) ? String(dropLast(suffix.count)) : self }
}
