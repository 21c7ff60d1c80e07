import AppleView
import Foundation

/// Type-checks all modules on all systems.
struct Check {
    let root: URL
    let stubs: Stubs
    /// The modules of the packages.
    let modules: [Module]
    let compiler: Compiler

    /// The oldest supported version of each platform (`platforms` in Package.swift).
    static let floors: [Platform: SystemVersion] = [
        .iOS: SystemVersion(17), .macOS: SystemVersion(14), .tvOS: SystemVersion(17), .watchOS: SystemVersion(10),
        .visionOS: SystemVersion(1),
    ]

    /// The systems of a platform: its oldest supported version, each version that the sources name, and the newest one. Code that is guarded
    /// by a version is thereby checked against the symbols of exactly this version.
    func systems(of platform: Platform) throws -> [AppleSystem] {
        let floor = Self.floors[platform]!
        var named: Set<SystemVersion> = [floor]
        for module in modules where module.platforms.contains(platform) {
            for file in module.files {
                named.formUnion(SourceView.versions(in: try String(contentsOf: file, encoding: .utf8), of: platform))
            }
        }
        return named.filter { $0 >= floor }.sorted().map { AppleSystem(platform, $0) } + [AppleSystem(platform, nil)]
    }

    /// Checks one system. Returns the messages of the modules that do not compile, in order.
    func messages(on system: AppleSystem) async throws -> [String] {
        var folders: [String: URL] = [:]
        var messages: [String] = []
        var failed: Set<String> = []
        for module in (stubs.modules + modules).inOrder where module.platforms.contains(system.platform) {
            // A module whose dependency fails would repeat its errors.
            guard failed.isDisjoint(with: module.dependencies) else {
                failed.insert(module.name)
                continue
            }
            let result = try await check(module, on: system, folders: folders.values.sorted { $0.path < $1.path })
            if let folder = result.folder {
                folders[module.name] = folder
            } else {
                failed.insert(module.name)
                messages.append("\(system): \(module.name)\n\(result.messages)")
            }
        }
        return messages
    }

    private func check(_ module: Module, on system: AppleSystem, folders: [URL]) async throws -> Compiler.Result {
        let names = Set(modules.map(\.name) + modules.flatMap(\.dependencies))
        let view = SourceView(system, frameworks: stubs.platforms, modules: names, isStub: module.isStub)
        var texts: [(name: String, text: String)] = []
        for file in module.files {
            let name = file.path.replacing(root.path + "/", with: "")
            do {
                texts.append((name, try view.text(of: try String(contentsOf: file, encoding: .utf8))))
            } catch let problem as SourceView.Problem {
                return Compiler.Result(folder: nil, messages: "\(name): error: \(problem)")
            }
        }
        return try await compiler.compile(module, texts: texts, folders: folders)
    }
}
