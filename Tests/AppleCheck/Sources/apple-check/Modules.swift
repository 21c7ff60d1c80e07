import AppleView
import Foundation

/// A module that is checked, with its sources.
struct Module: Sendable {
    let name: String
    let files: [URL]
    let dependencies: [String]
    /// The platforms on which the module is checked.
    var platforms: Set<Platform> = Set(Platform.allCases)
    /// Whether the module stands for one of Apple's frameworks.
    var isStub = false
    /// Whether SwiftPM would generate `Bundle.module`.
    var hasResources = false
    /// Whether the module has the language features of Package.swift. App code does not.
    var hasFeatures = true
    /// The package, whose other modules share `package` declarations with this one.
    var package = "countersign"
}

/// The output of `swift package describe --type json`, or of `scripts/xcode-project --describe`, whose targets have the type `app`.
struct PackageDescription: Decodable {
    struct Target: Decodable {
        let name: String
        let type: String
        let path: String
        let sources: [String]
        let targetDependencies: [String]?
        let productDependencies: [String]?
        let resources: [Resource]?
        /// The platforms of an app.
        let platforms: [Platform]?
    }

    struct Resource: Decodable {}

    let path: String
    let targets: [Target]

    init(file: String) throws {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        self = try decoder.decode(Self.self, from: Data(contentsOf: URL(filePath: file)))
    }

    /// The targets of certain names and kinds as modules.
    func modules(where isWanted: (Target) -> Bool) -> [Module] {
        targets.filter(isWanted).map { target in
            let folder = URL(filePath: path).appending(path: target.path)
            return Module(
                name: target.name, files: target.sources.sorted().map { folder.appending(path: $0) },
                dependencies: (target.targetDependencies ?? []) + (target.productDependencies ?? []),
                platforms: Set(target.platforms ?? Platform.allCases), hasResources: target.resources != nil,
                package: target.type == "app" ? target.name : "countersign")
        }
    }
}

/// The stubs of Apple's frameworks.
struct Stubs {
    /// The frameworks with their platforms.
    let platforms: [String: Set<Platform>]
    let modules: [Module]

    struct Problem: Error, CustomStringConvertible { let description: String }

    /// Reads the folder: `Frameworks.txt` has a line with the platforms of each module, and a folder of its name has the declarations.
    init(folder: URL) throws {
        var platforms: [String: Set<Platform>] = [:]
        for line in try String(contentsOf: folder.appending(path: "Frameworks.txt"), encoding: .utf8).split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard !line.hasPrefix("#"), parts.count == 2 else { continue }
            platforms[String(parts[0])] = Set(
                try parts[1].split(separator: " ").map {
                    guard let platform = Platform(rawValue: String($0)) else { throw Problem(description: "Frameworks.txt: \(line)") }
                    return platform
                })
        }
        self.platforms = platforms
        modules = try platforms.keys.sorted().compactMap { name in
            let home = folder.appending(path: name)
            guard FileManager.default.fileExists(atPath: home.path) else { return nil }
            let files = try FileManager.default.contentsOfDirectory(at: home, includingPropertiesForKeys: nil)
                .filter { $0.pathExtension == "swift" }.sorted { $0.path < $1.path }
            let imported = try files.flatMap { file in
                try String(contentsOf: file, encoding: .utf8).matches(of: /(?m)^.*\bimport (\w+)$/).map { String($0.1) }
            }
            return Module(
                name: name, files: files, dependencies: Set(imported).intersection(platforms.keys).subtracting([name]).sorted(),
                platforms: platforms[name] ?? [], isStub: true, package: "apple")
        }
    }
}

extension [Module] {
    /// The modules, each after those that it depends on.
    var inOrder: [Module] {
        var done: [Module] = []
        func add(_ module: Module) {
            guard !done.contains(where: { $0.name == module.name }) else { return }
            for name in module.dependencies { if let other = first(where: { $0.name == name }) { add(other) } }
            done.append(module)
        }
        for module in self { add(module) }
        return done
    }
}
