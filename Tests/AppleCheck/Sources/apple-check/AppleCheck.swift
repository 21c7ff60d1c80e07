import AppleView
import Foundation

/// Type-checks the client modules and the examples for Apple's platforms on Linux; see Tests/AppleStubs/README.md.
///
/// `apple-check ROOT OUTPUT PACKAGE EXAMPLES COMPATIBILITY APPS [PLATFORM…]`: the project's folder, a folder for compiled modules, the
/// descriptions of the packages, and one of the apps that Xcode builds. Without a platform, all are checked, and the planted faults; with
/// `faults`, only these.
@main
struct AppleCheck {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count >= 7 else { exit(with: "use scripts/apple-check") }
        let root = URL(filePath: arguments[1])
        let isAboutFaults = arguments.dropFirst(7).elementsEqual(["faults"])
        let named = isAboutFaults ? [] : arguments.dropFirst(7).map { Platform(rawValue: $0) }
        guard !named.contains(nil) else {
            exit(with: "the platforms are \(Platform.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        let output = URL(filePath: arguments[2])
        try? FileManager.default.removeItem(at: output)
        let check = Check(
            root: root, stubs: try Stubs(folder: root.appending(path: "Tests/AppleStubs")),
            modules: try modules(Array(arguments[3...6])), compiler: Compiler(common: otherModules(root), output: output))
        var failures: [String] = []
        for platform in isAboutFaults ? [] : named.isEmpty ? Platform.allCases : named.compactMap(\.self) {
            for system in try check.systems(of: platform) {
                let messages = try await check.messages(on: system)
                print("\(system): \(messages.isEmpty ? "ok" : "\(messages.count) modules do not compile")")
                failures += messages
            }
        }
        if named.isEmpty {
            failures += try await Faults(check: check, folder: root.appending(path: "Tests/AppleCheck/Faults")).missed()
        }
        print("\(await check.compiler.compiled) modules compiled")
        guard failures.isEmpty else { exit(with: failures.joined(separator: "\n")) }
    }

    /// The modules of the server, which is not built for Apple's phones and watches.
    private static let server: Set<String> = [
        "AdminAPI", "AuthnAPI", "AuthorizationServer", "CountersignSandbox", "Delivery", "DeviceAPI", "IdentityCore", "OAuthEndpoints",
        "OAuthWire", "ResourceServer", "ServerHTTP", "SignInPages", "Store", "StorePostgreSQL", "StoreSQLite", "WebAuthn", "countersign",
    ]

    private static func modules(_ packages: [String]) throws -> [Module] {
        func isLibrary(_ target: PackageDescription.Target) -> Bool {
            ["library", "app"].contains(target.type) && !server.contains(target.name) && !target.name.hasSuffix("TestSupport")
                && target.name != "Swift5App"
        }
        return try packages.flatMap { try PackageDescription(file: $0).modules(where: isLibrary) }.map { module in
            var module = module
            if terminal.contains(module.name) { module.platforms = [.macOS] }
            if module.name == appCode { (module.hasFeatures, module.platforms) = (false, [.iOS, .macOS]) }
            return module
        }
    }

    /// Code of an app that uses the client modules.
    private static let appCode = "Swift6App"

    /// The modules of programs in a terminal.
    private static let terminal: Set<String> = ["TerminalKit", "AppArguments"]

    /// The arguments for the modules of other packages and of the server, which are built for Linux: their interfaces are the same on
    /// Apple's systems. The previews of the examples import the sandbox.
    private static func otherModules(_ root: URL) -> [String] {
        func entries(_ folder: URL) -> [URL] {
            (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
        }
        let products = root.appending(path: ".build/debug").resolvingSymlinksInPath()
        let checkouts = root.appending(path: ".build/checkouts").resolvingSymlinksInPath()
        let written = entries(checkouts).flatMap { entries($0.appending(path: "Sources")) }.map { $0.appending(path: "include") }
        let system = [
            checkouts.appending(path: "GRDB.swift/Sources/GRDBSQLite"), root.appending(path: "Sources/CLibPQ"),
            root.appending(path: "Sources/CExtendedAttributes"),
        ]
        let generated = entries(products).filter { $0.pathExtension == "build" }
        let maps = (written + system + generated).map { $0.appending(path: "module.modulemap") }
            .filter { FileManager.default.fileExists(atPath: $0.path) && !$0.path.contains("SQLCipher") }
            .sorted { $0.path < $1.path }
        return ["-I", products.appending(path: "Modules").path] + maps.flatMap { ["-Xcc", "-fmodule-map-file=\($0.path)"] }
    }

    private static func exit(with message: String) -> Never {
        FileHandle.standardError.write(Data((message + "\n").utf8))
        Foundation.exit(1)
    }
}
