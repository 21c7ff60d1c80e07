internal import JOSE

/// What a provider signs in to the push service with: a team, and a signing key that the team registered (device-authenticator reference 9.1).
///
/// Two are equal when team, key id and key are. Its descriptions never show the key.
package struct APNsCredentials: Sendable {
    /// The team's id, ten letters and digits.
    package let teamID: String
    /// The signing key's id, ten letters and digits.
    package let keyID: String
    let signingKey: SigningKey
    /// Team, key id and the key's public fingerprint.
    private let identity: [String]

    /// Reads the credentials.
    ///
    /// - Parameters:
    ///   - teamID: The team's id, ten letters and digits, as the developer account shows it.
    ///   - keyID: The signing key's id, ten letters and digits; it is part of the `.p8` file's name.
    ///   - privateKeyPEM: The content of the `.p8` file: an unencrypted P-256 key in PEM.
    /// - Throws: ``APNsConfigurationError`` with ``APNsConfigurationError/Code/invalidTeamID``, ``APNsConfigurationError/Code/invalidKeyID`` or
    ///   ``APNsConfigurationError/Code/invalidPrivateKey``, whichever is wrong first.
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

    /// Enough to find the mistake by, and no more: somebody may have put the key in the wrong place.
    private static func shown(_ text: String) -> String {
        let printable = text.unicodeScalars.prefix(12).map { (0x20...0x7E).contains($0.value) ? Character($0) : "?" }
        return "\"" + String(printable) + (text.unicodeScalars.count > 12 ? "…" : "") + "\""
    }
}

extension APNsCredentials: Hashable {
    /// Whether team, key id and key are the same.
    package static func == (lhs: APNsCredentials, rhs: APNsCredentials) -> Bool { lhs.identity == rhs.identity }
    /// Hashes team, key id and the key's public fingerprint.
    package func hash(into hasher: inout Hasher) { hasher.combine(identity) }
}

extension APNsCredentials: Redacted {
    /// The team and the key's id.
    package var description: String { "APNsCredentials(team: \(teamID), key: \(keyID))" }
}
