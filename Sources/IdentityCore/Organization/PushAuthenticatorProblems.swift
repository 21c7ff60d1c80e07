internal import JOSE

extension DefinitionCheck {
    private static let longestText = 100

    mutating func authenticators() {
        let authenticators = definition.authenticators
        duplicates(authenticators.map(\.id), [.key("authenticators")], "id", "Authenticator")
        var linked: Set<String> = []
        for (index, authenticator) in authenticators.enumerated() {
            let path: [Step] = [.key("authenticators"), .index(index)]
            self.authenticator(authenticator, path)
            if authenticator.isActive, !linked.insert(authenticator.clientID).inserted {
                problem(
                    path + [.key("clientID")],
                    "“\(authenticator.clientID)” is linked to another authenticator already, and its devices use only the first. Link an app of its own."
                )
            }
        }
    }

    private mutating func authenticator(_ authenticator: PushAuthenticator, _ path: [Step]) {
        if authenticator.id.isEmpty || authenticator.id.utf8.count > Self.longestText
            || !authenticator.id.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        {
            problem(path + [.key("id")], "An authenticator's id has 1 to \(Self.longestText) printable ASCII characters, without space.")
        }
        if authenticator.name.isEmpty || authenticator.name.utf8.count > Self.longestText {
            problem(path + [.key("name")], "An authenticator needs a name to show to users, of at most \(Self.longestText) bytes.")
        }
        client(of: authenticator, path + [.key("clientID")])
        if let credentials = authenticator.credentials { self.credentials(credentials, path + [.key("credentials")]) }
    }

    private mutating func client(of authenticator: PushAuthenticator, _ path: [Step]) {
        guard let application = definition.applications.first(where: { $0.id == authenticator.clientID }) else {
            let hint =
                Suggestion.nearest(to: authenticator.clientID, among: clients).map { " Did you mean “\($0)”?" }
                ?? " Define it, or correct the name."
            return problem(path, "There is no application “\(authenticator.clientID)”.\(hint)")
        }
        if authenticator.kind == .customApp, !application.grantTypes.contains(GrantType.jwtBearer) {
            problem(
                path,
                "The application “\(application.id)” lacks the grant type jwt-bearer, by which its devices keep their push tokens up to date. Add it to the application."
            )
        }
    }

    private mutating func credentials(_ credentials: PushAuthenticator.Credentials, _ path: [Step]) {
        for (id, key, name) in [(credentials.teamID, "teamID", "team id"), (credentials.keyID, "keyID", "key id")]
        where id.utf8.count != 10 || !id.utf8.allSatisfy({ Self.isLetterOrDigit($0) }) {
            problem(path + [.key(key)], "An APNs \(name) has 10 letters and digits; “\(id)” has not. Copy it from the developer account.")
        }
        for (topic, key) in [(credentials.topic, "topic"), (credentials.developmentTopic ?? "-", "developmentTopic")]
        where topic.isEmpty || topic.utf8.count > 200 || !topic.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) {
            problem(path + [.key(key)], "APNs needs a topic: the app's bundle id, such as com.example.app.")
        }
        guard let pem = credentials.privateKey else {
            return problem(
                path + [.key("privateKey")], "APNs needs the signing key: write key with its PEM text, or key_file with its file.")
        }
        do {
            _ = try SigningKey(pem: pem, algorithm: .es256)
        } catch {
            problem(
                path + [.key("privateKey")],
                "The APNs key can not be read. Take the .p8 file as it was downloaded: a P-256 private key in PEM.")
        }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
        default: false
        }
    }
}
