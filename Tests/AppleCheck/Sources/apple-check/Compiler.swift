import AppleView
import Foundation

/// Type-checks modules. A module whose sources and dependencies look the same on several systems is compiled once.
actor Compiler {
    struct Result: Sendable {
        /// The folder of the module; `nil` if it does not compile.
        let folder: URL?
        let messages: String
    }

    /// Folders of modules and arguments of the compiler for all modules, such as the modules of other packages.
    private let common: [String]
    private let output: URL
    private var results: [String: Task<Result, any Error>] = [:]
    private var count = 0
    /// The number of compilers that may run now.
    private var free = 2
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(common: [String], output: URL) { (self.common, self.output) = (common, output) }

    /// The number of modules that were compiled.
    var compiled: Int { count }

    /// Compiles a module.
    /// - Parameters:
    ///   - texts: The names and texts of its files.
    ///   - folders: The folders of the modules that it may import.
    func compile(_ module: Module, texts: [(name: String, text: String)], folders: [URL]) async throws -> Result {
        let key = ([module.name] + folders.map(\.path) + texts.flatMap { [$0.name, $0.text] }).joined(separator: "\u{0}")
        if let known = results[key] { return try await known.value }
        count += 1
        let home = output.appending(path: "\(count)-\(module.name)")
        let task = Task { try await self.run(module, texts, folders, in: home) }
        results[key] = task
        return try await task.value
    }

    private func run(_ module: Module, _ texts: [(name: String, text: String)], _ folders: [URL], in home: URL) async throws -> Result {
        if free > 0 { free -= 1 } else { await withCheckedContinuation { waiting.append($0) } }
        defer { if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() } }
        try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
        var files: [String] = []
        for (name, text) in texts {
            let file = home.appending(path: name.replacing("/", with: "~"))
            try text.write(to: file, atomically: false, encoding: .utf8)
            files.append(file.path)
        }
        if module.hasResources {
            let file = home.appending(path: "resource_bundle_accessor.swift")
            try "import class Foundation.Bundle\nextension Bundle { static let module = Bundle.main }\n"
                .write(to: file, atomically: false, encoding: .utf8)
            files.append(file.path)
        }
        let arguments =
            [
                "swiftc", "-emit-module", "-wmo", "-parse-as-library", "-swift-version", "6", "-module-name", module.name,
                "-package-name", module.package, "-emit-module-path",
                home.appending(path: "\(module.name).swiftmodule").path,
                "-diagnostic-style", "llvm",
            ] + (module.isStub || !module.hasFeatures ? [] : Self.features) + folders.flatMap { ["-I", $0.path] } + common + files
        let (status, output) = try await Self.execute(arguments)
        let messages = Self.ownMessages(output)
        let isGood = status == 0 && (module.isStub || !messages.contains("warning:"))
        return Result(folder: isGood ? home : nil, messages: messages.replacing(home.path + "/", with: "").replacing("~", with: "/"))
    }

    /// The language features of Package.swift.
    private static let features = ["ExistentialAny", "MemberImportVisibility", "InternalImportsByDefault"].flatMap {
        ["-enable-upcoming-feature", $0]
    }

    /// Whether a warning has its reason in this check: the parts of Foundation and CryptoKit are other modules here, and a variable can be
    /// changed in an inactive clause.
    private static func isIgnored(_ line: Substring) -> Bool {
        line.contains(/import of '(CoreFoundationStubs|CryptoKit|Foundation|FoundationNetworking)' was not used/)
            || line.contains("was never mutated")
    }

    /// Returns the messages without ignored warnings.
    private static func ownMessages(_ output: String) -> String {
        var isOwn = true
        return output.split(separator: "\n", omittingEmptySubsequences: false).filter { line in
            if line.contains(#/: (error|warning|note): /#) {
                isOwn = !Self.isIgnored(line)
            }
            return isOwn
        }.joined(separator: "\n")
    }

    /// Runs a command, and returns its status and output.
    private static func execute(_ arguments: [String]) async throws -> (Int32, String) {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        // The read blocks until the compiler ends, so it runs on a thread that may block.
        let data = await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: pipe.fileHandleForReading.readDataToEndOfFile()) }
        }
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: data, as: UTF8.self))
    }
}
