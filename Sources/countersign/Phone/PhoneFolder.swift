import ArgumentParser
import AuthFoundation
import Foundation

/// Where the phone is kept.
struct PhoneFolder: ParsableArguments {
    @Option(
        name: .customLong("phone"),
        help: ArgumentHelp(
            "The folder of the phone; by default $COUNTERSIGN_PHONE, else one in ~/.local/share. Each folder is a phone of its own.",
            valueName: "folder"))
    var path: String?

    var url: URL {
        path.map { URL(filePath: $0, directoryHint: .isDirectory) }
            ?? Self.standard(environment: ProcessInfo.processInfo.environment, home: UserFolders.home)
    }

    /// `COUNTERSIGN_PHONE` if set, else `countersign/phone` in the user's data folder (XDG base directories).
    static func standard(environment: [String: String], home: String) -> URL {
        if let path = environment["COUNTERSIGN_PHONE"], !path.isEmpty { return URL(filePath: path, directoryHint: .isDirectory) }
        return UserFolders.data(environment: environment, home: home).appending(path: "countersign/phone", directoryHint: .isDirectory)
    }
}
