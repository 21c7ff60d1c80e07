internal import Delivery
internal import Foundation
internal import Logging
internal import Yams

/// The section `breached_passwords`.
extension BreachedPasswordSettings {
    init(_ section: OrgFileSection) {
        let folder = section.source.folder.map { URL(filePath: $0, directoryHint: .isDirectory) }
        let seconds = section.seconds("timeout") ?? BreachedPasswordSettings().timeout
        self.init(
            file: section.string("file").map { URL(filePath: $0, relativeTo: folder).path }, rangeURL: section.string("range_url"),
            timeout: seconds)
        if file == nil, rangeURL == nil {
            section.source.add(
                "breached_passwords names no list. Add range_url: https://api.pwnedpasswords.com/range, or file: with a sorted list.",
                at: section.node, key: section.key)
        }
        if !(1...10).contains(seconds) {
            section.source.add(
                "\(seconds) is out of range: 1 to 10 seconds.", at: section.value("timeout") ?? section.node,
                key: section.spelled("timeout"))
        }
        check(section, "range_url") { _ = try BreachedPasswordSettings(rangeURL: rangeURL).makeCheck(logger: Logger(label: "org file")) }
        check(section, "file") { try file.map { path in _ = try BreachedPasswordFile(path: path) } }
        section.reportUnknownKeys()
    }

    /// What is wrong is told with its line, and not at the first password.
    private func check(_ section: OrgFileSection, _ name: String, _ body: () throws -> Void) {
        do {
            try body()
        } catch {
            section.source.add(
                (error as? BreachedPasswordError)?.message ?? "\(error)", at: section.value(name) ?? section.node,
                key: section.spelled(name))
        }
    }
}
