package import Foundation

/// The user's folders, by the [XDG Base Directory Specification](https://specifications.freedesktop.org/basedir-spec/latest/).
package enum UserFolders {
    /// The home folder of the user who runs this process.
    package static var home: String { home(environment: ProcessInfo.processInfo.environment, systemHome: NSHomeDirectory()) }

    /// The folder that `HOME` names, or else the folder that the system reports.
    ///
    /// Foundation on Linux reads only the password database and ignores `HOME`, which containers, services and tests set.
    /// On Apple's systems Foundation returns the correct folder: the container of a sandboxed app.
    package static func home(environment: [String: String], systemHome: String) -> String {
        #if canImport(Darwin)
        return systemHome
        #else
        guard let path = environment["HOME"], path.hasPrefix("/") else { return systemHome }
        return path
        #endif
    }

    /// The folder for the data of programs: `XDG_DATA_HOME`, else `.local/share` in the home folder.
    package static func data(
        environment: [String: String] = ProcessInfo.processInfo.environment, home: String = UserFolders.home
    ) -> URL {
        // The specification says to ignore a relative path.
        if let path = environment["XDG_DATA_HOME"], path.hasPrefix("/") { return URL(fileURLWithPath: path, isDirectory: true) }
        return URL(fileURLWithPath: home, isDirectory: true).appendingPathComponent(".local/share", isDirectory: true)
    }
}
