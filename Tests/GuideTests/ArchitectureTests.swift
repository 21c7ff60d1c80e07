import Foundation
import JOSE
import TestSupport
import Testing

/// Compares ARCHITECTURE.md with the sources and the package.
@Suite("Architecture")
struct ArchitectureTests {
    /// A row in the table of a request: a function, and the file that declares it.
    private struct Hop {
        var request: String
        var function: String
        var file: String
    }

    private func text(_ path: String) throws -> String {
        try String(contentsOf: OutsidePart.root.appending(path: path), encoding: .utf8)
    }

    /// Returns the rows of all tables, and the number of rows that each request shares with the first table.
    private func hops() throws -> (own: [Hop], shared: [String: Int]) {
        let page = try text("ARCHITECTURE.md")
        let section = try #require(page.split(separator: "\n## ").first { $0.hasPrefix("The path of a sign-in") })
        var request = ""
        var shared: [String: Int] = [:]
        let own: [Hop] = section.split(separator: "\n").compactMap { line in
            if let heading = line.firstMatch(of: /^### (.+)$/) { request = String(heading.1) }
            if let rows = line.firstMatch(of: /^Rows 1 to (\d+)/) { shared[request] = Int(rows.1) }
            guard let row = line.firstMatch(of: /^\| \d+ \| `([^`]+)` \| `([^`]+)` \|/) else { return nil }
            return Hop(request: request, function: String(row.1), file: String(row.2))
        }
        return (own, shared)
    }

    @Test("The architecture page lists 5 to 20 functions for each request, and each function is declared in the named file")
    func path() throws {
        let (hops, shared) = try hops()
        #expect(Set(hops.map(\.request)).count == 4)
        for (request, path) in Dictionary(grouping: hops, by: \.request) {
            let count = path.count + (shared[request] ?? 0)
            #expect((5...20).contains(count), "\(request) has \(count) hops.")
        }
        for hop in hops {
            let source = try text("Sources/" + hop.file)
            let name = try #require(hop.function.split(separator: ".").last)
            let declaration = name == "init" ? "\\binit[?]?[(<]" : "\\bfunc \(NSRegularExpression.escapedPattern(for: String(name)))[(<]"
            #expect(source.range(of: declaration, options: .regularExpression) != nil, "\(hop.file) has no \(hop.function).")
        }
    }

    @Test("The architecture page's module table names every target below Sources, with the dependencies of each target")
    func modules() async throws {
        let scratch = TemporaryFolder()
        let dumped = try await ChildProcess.run(
            URL(filePath: "/usr/bin/env"),
            ["swift", "package", "--package-path", OutsidePart.root.path, "--scratch-path", scratch.url.path, "dump-package"])
        let package = try JSONValue(parsing: Data(dumped.output.utf8))
        var expected: [String: Set<String>] = [:]
        let targets = try #require(package["targets"]?.arrayValue).filter {
            ["regular", "executable"].contains($0["type"]?.stringValue) && $0["path"]?.stringValue == nil
        }
        let names = Set(targets.compactMap { $0["name"]?.stringValue })
        for target in targets {
            let own = (target["dependencies"]?.arrayValue ?? []).compactMap { $0["byName"]?.arrayValue?.first?.stringValue }
            expected[try #require(target["name"]?.stringValue)] = names.intersection(own)
        }
        var documented: [String: Set<String>] = [:]
        for row in try text("ARCHITECTURE.md").matches(of: /(?m)^\| `(\w+)` \| [^|]+ \| ([^|]*) \|$/) {
            let names = row.2.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
            documented[String(row.1)] = Set(names.filter { $0 != "–" })
        }
        #expect(documented == expected)
    }
}
