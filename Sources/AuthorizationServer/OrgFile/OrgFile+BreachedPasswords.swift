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
        section.check("range_url") { _ = try BreachedPasswordSettings(rangeURL: rangeURL).makeCheck(logger: Logger(label: "org file")) }
        section.check("file") { try file.map { path in _ = try BreachedPasswordFile(path: path) } }
        section.reportUnknownKeys()
    }
}
