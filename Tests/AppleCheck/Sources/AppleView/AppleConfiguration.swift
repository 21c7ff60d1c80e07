import SwiftIfConfig
import SwiftSyntax

/// The answers to the conditions of `#if` on one of Apple's platforms.
struct AppleConfiguration: BuildConfiguration {
    /// A module about which neither the stubs nor the lists below say whether the platform has it.
    struct UnknownModule: Error, CustomStringConvertible {
        let name: String
        var description: String { "canImport(\(name)): name the module's platforms in Tests/AppleStubs/Frameworks.txt" }
    }

    let platform: Platform
    /// The modules of Apple's frameworks with their platforms.
    let frameworks: [String: Set<Platform>]
    /// The modules of the packages.
    let modules: Set<String>

    /// Modules of the toolchain on every platform.
    private static let common: Set<String> = ["Foundation", "Dispatch", "Observation", "Synchronization", "Darwin"]
    /// Modules of other systems.
    private static let foreign: Set<String> = [
        "FoundationNetworking", "FoundationEssentials", "Glibc", "Musl", "Android", "WinSDK", "Bionic",
    ]

    func canImport(importPath: [(TokenSyntax, String)], version: CanImportVersion) throws -> Bool {
        guard let name = importPath.first?.1 else { return false }
        if let platforms = frameworks[name] { return platforms.contains(platform) }
        if Self.common.contains(name) || modules.contains(name) { return true }
        guard Self.foreign.contains(name) else { throw UnknownModule(name: name) }
        return false
    }

    func isActiveTargetOS(name: String) -> Bool { name == platform.rawValue || (name == "OSX" && platform == .macOS) }
    func isCustomConditionSet(name: String) -> Bool { ["DEBUG", "SWIFT_PACKAGE", "Server"].contains(name) }
    func hasFeature(name: String) -> Bool { true }
    func hasAttribute(name: String) -> Bool { true }
    func isActiveTargetArchitecture(name: String) -> Bool { name == "arm64" }
    func isActiveTargetEnvironment(name: String) -> Bool { false }
    func isActiveTargetRuntime(name: String) -> Bool { name == "_ObjC" || name == "_multithreaded" }
    func isActiveTargetPointerAuthentication(name: String) -> Bool { name == "_none" }
    func isActiveTargetObjectFormat(name: String) -> Bool { name == "MachO" }
    var targetPointerBitWidth: Int { 64 }
    var targetAtomicBitWidths: [Int] { [8, 16, 32, 64] }
    var endianness: Endianness { .little }
    var languageVersion: VersionTuple { VersionTuple(6) }
    var compilerVersion: VersionTuple { VersionTuple(6, 3) }
}
