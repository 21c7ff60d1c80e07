import Foundation
import TestSupport

/// The products of the build to which these tests belong. Guides compile against them in seconds.
struct BuiltModules: Sendable {
    /// The folder of the products.
    let products: URL

    init() {
        // The test program is in the same folder.
        let executable = Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments.first ?? "")
        products = executable.deletingLastPathComponent()
    }

    /// The `countersign` command.
    var command: URL { products.appending(path: "countersign") }

    /// The compiler arguments for the search paths of the modules and their C modules.
    var arguments: [String] {
        ["-I", products.appending(path: "Modules").path()]
            + moduleMaps.flatMap { map in
                ["-Xcc", "-fmodule-map-file=\(map.path())", "-Xcc", "-I", "-Xcc", map.deletingLastPathComponent().path()]
            }
    }

    /// The object files of the client modules, for linking a guide's program.
    var clientObjects: [URL] {
        let modules = [
            "JOSE", "JSON", "CommonSupport", "AuthFoundation", "OAuth2Auth", "BrowserSignin", "OktaDirectAuth", "DeviceAuthenticator",
            "OktaAuthSdk", "Crypto", "CryptoExtras", "CryptoBoringWrapper", "CCryptoBoringSSL", "CCryptoBoringSSLShims", "CXKCP",
            "CXKCPShims", "SwiftASN1",
        ]
        return modules.flatMap { files(below: products.appending(path: "\($0).build")) }.filter { $0.pathExtension == "o" }
    }

    private var moduleMaps: [URL] {
        let checkouts = OutsidePart.root.appending(path: ".build/checkouts")
        let written = ["swift-crypto", "swift-nio", "swift-nio-ssl", "swift-atomics", "swift-system", "swift-numerics", "Yams"]
            .flatMap { files(below: checkouts.appending(path: "\($0)/Sources")) }
            .filter { $0.deletingLastPathComponent().lastPathComponent == "include" }
        let folders = (try? FileManager.default.contentsOfDirectory(at: products, includingPropertiesForKeys: nil)) ?? []
        let generated = folders.filter { $0.pathExtension == "build" }.map { $0.appending(path: "module.modulemap") }
        let system = [
            checkouts.appending(path: "GRDB.swift/Sources/GRDBSQLite/module.modulemap"),
            OutsidePart.root.appending(path: "Sources/CLibPQ/module.modulemap"),
            OutsidePart.root.appending(path: "Sources/CExtendedAttributes/module.modulemap"),
        ]
        return (written + generated + system).filter {
            $0.lastPathComponent == "module.modulemap" && FileManager.default.fileExists(atPath: $0.path(percentEncoded: false))
        }
    }

    private func files(below folder: URL) -> [URL] {
        let entries = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        return (entries?.compactMap { $0 as? URL } ?? []).sorted { $0.path() < $1.path() }
    }
}
