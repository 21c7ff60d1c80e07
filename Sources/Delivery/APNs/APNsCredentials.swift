internal import JOSE

/// A provider's credentials at the push service: a team and its signing key (Documentation/Protocol/Devices.md §9.1). Credentials are equal
/// if team, key ID and key are equal. Descriptions never show the key.
package struct APNsCredentials: Sendable {
    /// The id of the Apple team: ten letters and digits.
    package let teamID: String
    /// The id of the key: ten letters and digits.
    package let keyID: String
    let signingKey: SigningKey
    /// The values that are compared: team ID, key ID and the thumbprint of the public key.
    private let identity: [String]

    /// Validates the credentials. The error's code names the first invalid parameter.
    /// - Parameters:
    ///   - teamID: Ten letters and digits, from the developer account's membership page.
    ///   - keyID: Ten letters and digits, from the name of the `.p8` file.
    ///   - privateKeyPEM: The content of the `.p8` file: an unencrypted P-256 key in PEM.
    package init(teamID: String, keyID: String, privateKeyPEM: String) throws(APNsConfigurationError) {
        guard Self.isIdentifier(teamID) else {
            throw APNsConfigurationError(
                .invalidTeamID,
                "The team id \(Self.shown(teamID)) is not ten letters and digits; the membership page of the developer account shows it.")
        }
        guard Self.isIdentifier(keyID) else {
            throw APNsConfigurationError(
                .invalidKeyID,
                "The key id \(Self.shown(keyID)) is not ten letters and digits; it is the part of the file's name AuthKey_….p8.")
        }
        let key: SigningKey
        do {
            key = try SigningKey(pem: privateKeyPEM, algorithm: .es256, keyID: keyID)
        } catch {
            throw APNsConfigurationError(
                .invalidPrivateKey,
                "The signing key \(keyID) is no unencrypted P-256 key in PEM; give the content of the .p8 file as it was downloaded, lines included.",
                underlying: error)
        }
        self.teamID = teamID
        self.keyID = keyID
        signingKey = key
        identity = [teamID, keyID, key.publicKey?.thumbprint ?? ""]
    }

    private static func isIdentifier(_ text: String) -> Bool {
        text.utf8.count == 10
            && text.utf8.allSatisfy {
                UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0
                    || UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0
            }
    }

    /// Returns at most 12 characters for an error message, because the text may be a key in the wrong place.
    private static func shown(_ text: String) -> String {
        let printable = text.unicodeScalars.prefix(12).map { (0x20...0x7E).contains($0.value) ? Character($0) : "?" }
        return "\"" + String(printable) + (text.unicodeScalars.count > 12 ? "…" : "") + "\""
    }
}

extension APNsCredentials: Hashable {
    package static func == (lhs: APNsCredentials, rhs: APNsCredentials) -> Bool { lhs.identity == rhs.identity }
    package func hash(into hasher: inout Hasher) { hasher.combine(identity) }
}

extension APNsCredentials: Redacted {
    package var description: String { "APNsCredentials(team: \(teamID), key: \(keyID))" }
}
