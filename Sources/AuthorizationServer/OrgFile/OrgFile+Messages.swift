internal import Delivery
internal import Yams

/// The section `messages`.
extension MessageSettings {
    init(_ section: OrgFileSection) {
        self.init(mail: section.section("mail").map(Mail.init), telephony: section.section("telephony").map(Telephony.init))
        // What is missing was told.
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
