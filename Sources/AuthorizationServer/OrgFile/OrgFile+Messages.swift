internal import Delivery
internal import Foundation
internal import Logging
internal import Yams

/// Reads the section `messages`.
extension MessageSettings {
    init(_ section: OrgFileSection) {
        self.init(mail: section.section("mail").map(Mail.init), telephony: section.section("telephony").map(Telephony.init))
        // Missing values were reported above.
        if let mail, !mail.host.isEmpty, !mail.from.isEmpty { section.check("mail") { _ = try mail.configuration() } }
        if let telephony, !telephony.url.isEmpty { section.check("telephony") { try telephony.configuration(origin: "").validate() } }
        section.reportUnknownKeys()
    }
}

extension MessageSettings.Mail {
    fileprivate init(_ section: OrgFileSection) {
        let ways: [String: SMTPConfiguration.Security] = [
            "starttls": .startTLS, "tls": .implicitTLS, "none_on_this_machine": .insecureOnThisMachine,
        ]
        let port = section.int("port", default: 0)
        self.init(
            host: section.required("host", example: "smtp.example.com"), port: port == 0 ? nil : port,
            security: section.choice("security", ways, default: .startTLS), user: section.string("user"),
            password: section.string("password"), from: section.required("from", example: "no-reply@example.com"),
            fromName: section.string("from_name"))
        section.reportUnknownKeys()
    }
}

extension MessageSettings.Telephony {
    fileprivate init(_ section: OrgFileSection) {
        self.init(
            url: section.required("url", example: "https://hooks.example.com/telephony"),
            header: section.string("header") ?? "Authorization",
            secret: section.string("secret"), signingKey: section.string("signing_key"))
        section.reportUnknownKeys()
    }
}

/// Reads the section `breached_passwords`.
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
