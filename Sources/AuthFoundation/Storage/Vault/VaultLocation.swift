import Foundation

/// Where the vault of this program lies unless the app says otherwise.
enum VaultLocation {
    /// `COUNTERSIGN_VAULT` if set, else `countersign/<program>/credentials` in the user's data folder (XDG base directories).
    static func folder(environment: [String: String], home: String, program: String) -> URL {
        if let path = environment["COUNTERSIGN_VAULT"], !path.isEmpty {
            return URL(fileURLWithPath: path, isDirectory: true)
        }
        let name = program.isEmpty ? "default" : program
        return UserFolders.data(environment: environment, home: home).appendingPathComponent(
            "countersign/\(name)/credentials", isDirectory: true)
    }

    static var current: URL {
        folder(
            environment: ProcessInfo.processInfo.environment, home: UserFolders.home,
            program: URL(fileURLWithPath: ProcessInfo.processInfo.arguments.first ?? "").lastPathComponent)
    }
}
