import AppleView
import Foundation

/// Planted faults: files that must not compile on the oldest iOS, each for the reason in its first line, `// expects: …`.
struct Faults {
    let check: Check
    let folder: URL

    /// Returns the faults that the check does not find, and files without a fault that it refuses.
    func missed() async throws -> [String] {
        var missed: [String] = []
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        for file in files.filter({ $0.pathExtension == "swift" }).sorted(by: { $0.path < $1.path }) {
            let name = file.deletingPathExtension().lastPathComponent
            let first = try String(contentsOf: file, encoding: .utf8).prefix { $0 != "\n" }
            let expected = first.hasPrefix("// expects: ") ? String(first.dropFirst("// expects: ".count)) : nil
            let planted = Module(name: name, files: [file], dependencies: check.modules.map(\.name), platforms: [.iOS])
            let all = Check(root: check.root, stubs: check.stubs, modules: check.modules + [planted], compiler: check.compiler)
            let messages = try await all.messages(on: AppleSystem(.iOS, Check.floors[.iOS])).filter { $0.contains(": \(name)\n") }
            switch expected {
            case let text? where !messages.contains(where: { $0.contains(text) }):
                missed.append("\(name): expected “\(text)”, found \(messages.isEmpty ? "nothing" : messages.joined(separator: "\n"))")
            case nil where !messages.isEmpty: missed.append("\(name): \(messages.joined(separator: "\n"))")
            default: print("planted fault found: \(name)")
            }
        }
        return missed
    }
}
