internal import Foundation
internal import IdentityCore
internal import StoreSQLite
internal import Yams

extension PushAuthenticator {
    init(_ section: OrgFileSection) {
        // The definition has other names for these properties. The aliases map the problems that it reports to the keys of the file.
        _ = section.value("client", as: "clientID")
        self.init(
            id: section.required("id", example: "autphone"),
            kind: section.choice("type", ["custom_app": .customApp, "okta_verify": .oktaVerify], default: .customApp, as: "kind"),
            name: section.required("name", example: "Acme Push"), clientID: section.required("client", example: "phone-app"),
            isActive: section.choice("push", ["on": true, "off": false], default: true, as: "isActive"),
            userVerification: section.choice("user_verification", ["preferred": .preferred, "required": .required], default: .preferred),
            numberChallenge: section.choice(
                "number_challenge", ["never": .never, "risky": .risky, "always": .always], default: .risky),
            credentials: section.section("apns", as: "credentials").map(Credentials.init))
    }
}

extension PushAuthenticator.Credentials {
    fileprivate init(_ section: OrgFileSection) {
        _ = section.value("team_id", as: "teamID")
        _ = section.value("key_id", as: "keyID")
        self.init(
            teamID: section.required("team_id", example: "ABCDE12345"), keyID: section.required("key_id", example: "FGHIJ67890"),
            privateKey: Self.privateKey(section), topic: section.required("topic", example: "com.example.app"),
            developmentTopic: section.string("development_topic"))
        section.reportUnknownKeys()
    }

    /// The maximum size of a key file in bytes.
    private static let largestKey = 1 << 20

    /// Returns the text of `key` or of the file `key_file`. Only the file's owner may have access to it. Relative paths start at the org
    /// file's folder.
    private static func privateKey(_ section: OrgFileSection) -> String? {
        let text = section.string("key", as: "privateKey")
        guard let name = section.string("key_file", as: text == nil ? "privateKey" : nil) else {
            if text == nil, section.value("key") == nil, section.value("key_file") == nil {
                section.source.add(
                    "APNs needs the signing key. Add key_file: AuthKey.p8, or key: ${APNS_KEY} with its text.", at: section.node,
                    key: section.key)
            }
            return text
        }
        guard text == nil else {
            section.source.add(
                "There are both key and key_file. Remove one.", at: section.value("key_file") ?? section.node,
                key: section.spelled("key_file"))
            return text
        }
        let folder = section.source.folder.map { URL(filePath: $0, directoryHint: .isDirectory) }
        func report(_ message: String) {
            section.source.add(message, at: section.value("key_file") ?? section.node, key: section.spelled("key_file"))
        }
        do throws(FileProtection.Unsafe) {
            let path = URL(filePath: name, relativeTo: folder).absoluteURL.path
            let file = try FileProtection.open(path, .ownerOnly, followsLink: true)
            if let data = try? file?.read(upToCount: largestKey), let text = String(data: data, encoding: .utf8) { return text }
            report("The file “\(name)” can not be read. Name the .p8 file as it was downloaded.")
        } catch {
            report(error.message)
        }
        return nil
    }
}

extension SavedCodesPolicy {
    init(_ section: OrgFileSection) {
        self.init(
            count: section.int("count", default: SavedCodesPolicy().count),
            isOffered: section.choice("offer", ["once": true, "never": false], default: true, as: "isOffered"))
        section.reportUnknownKeys()
    }
}

extension PasskeyPolicy {
    init(_ section: OrgFileSection) {
        self.init(
            relyingParty: section.string("rp_id", as: "relyingParty"), origins: section.strings("origins") ?? [],
            userVerification: section.choice("user_verification", ["preferred": .preferred, "required": .required], default: .preferred),
            models: section.strings("models"),
            counter: section.choice("counter", ["refuse": .refuse, "signal": .signal], default: .refuse),
            isOffered: section.choice("offer", ["once": true, "never": false], default: true, as: "isOffered"))
        section.reportUnknownKeys()
    }
}
