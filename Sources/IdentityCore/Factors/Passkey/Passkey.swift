package import Foundation
internal import JOSE
package import WebAuthn

/// The settings of passkeys and security keys (WebAuthn).
package struct PasskeyPolicy: Sendable, Equatable, Codable {
    package enum UserVerification: String, Sendable, Codable {
        /// A passkey verifies the user if it can. Without user verification, it proves only possession.
        case preferred
        /// Passkeys without user verification are rejected.
        case required
    }

    /// The reaction to a signature counter that did not increase, which is a sign of a copied key.
    package enum CounterCheck: String, Sendable, Codable {
        /// The sign-in is refused.
        case refuse
        /// The sign-in continues, and the system log has a warning.
        case signal
    }

    /// The relying party's id (RP ID): the domain of the passkeys; `nil` for the host of the organization's origin. A change makes the
    /// existing passkeys unusable.
    package var relyingParty: String?
    /// The origins that can use the passkeys, in addition to the organization's: related origins and Android apps
    /// (`android:apk-key-hash:…`).
    package var origins: [String]
    package var userVerification: UserVerification
    /// The models of authenticators (AAGUID, lowercase with hyphens) that can be enrolled; `nil` for all.
    package var models: [String]?
    package var counter: CounterCheck
    /// Whether the pages offer a passkey once to each user without a passkey.
    package var isOffered: Bool

    package init(
        relyingParty: String? = nil, origins: [String] = [], userVerification: UserVerification = .preferred, models: [String]? = nil,
        counter: CounterCheck = .refuse, isOffered: Bool = true
    ) {
        (self.relyingParty, self.origins, self.userVerification) = (relyingParty, origins, userVerification)
        (self.models, self.counter, self.isOffered) = (models, counter, isOffered)
    }

    /// Returns the relying party's id for an organization's origin. For a loopback address, the id is `localhost`, because an IP address
    /// cannot be an id.
    package func rpID(origin: String) -> String {
        let host = URLComponents(string: origin)?.host ?? ""
        return relyingParty ?? (Self.isLoopbackAddress(host) ? "localhost" : host)
    }

    private static func isLoopbackAddress(_ host: String) -> Bool {
        host != "localhost" && !host.hasSuffix(".localhost") && DefinitionCheck.isLoopback(host)
    }

    /// Whether browsers accept the passkeys at the organization's origin. Browsers reject them at a loopback address; apps accept them.
    package func worksInBrowsers(origin: String) -> Bool { RelyingPartyID.problem(rpID(origin: origin), at: origin) == nil }

    /// Returns the reason why passkeys cannot be used at the organization's origin; `nil` if they can.
    func problem(origin: String) -> RelyingPartyID.Problem? {
        guard let problem = RelyingPartyID.problem(rpID(origin: origin), at: origin) else { return nil }
        let isLocal = Self.isLoopbackAddress(URLComponents(string: origin)?.host ?? "")
        return isLocal && rpID(origin: origin) == "localhost" ? nil : problem
    }
}

extension OrgSnapshot {
    /// The settings of passkeys on the hosted pages; `nil` if they are off, or if browsers refuse passkeys at the organization's origin.
    package var pagePasskeys: PasskeyPolicy? { organization.passkeys.flatMap { $0.worksInBrowsers(origin: origin) ? $0 : nil } }
}

/// A passkey that is stored in an enrollment.
package struct PasskeyMethod: Sendable, Equatable, Codable {
    package var credential: StoredPasskey
    /// The name that the user sees.
    package var name: String

    package init(credential: StoredPasskey, name: String) { (self.credential, self.name) = (credential, name) }

    /// The credential's id in base64url.
    package var credentialID: String { Base64URL.encode(credential.id) }
    package var relyingParty: String { credential.relyingPartyID }
    package var transports: [String] { credential.transports }
    package var aaguid: String { credential.aaguid.description }
    /// Whether the user verification was confirmed at the registration or later, so that the passkey can prove two factors at once.
    package var verifiesUser: Bool { credential.isUserVerificationInitialized }
    /// Records that another factor has confirmed the authenticator's user verification.
    mutating func confirmUserVerification() { credential.isUserVerificationInitialized = true }

    /// Whether the key cannot leave its device.
    package var isHardwareProtected: Bool { !credential.isBackupEligible }
}

/// The properties of a passkey's signature.
package struct PasskeyUse: Sendable, Equatable {
    /// Whether the authenticator verified the user by a PIN or biometrics.
    package var userVerified: Bool
    package var isHardwareProtected: Bool
    /// Whether the signature counter increased, or the authenticator has no counter. `false` is a sign of a copied key.
    package var hasCounterIncreased: Bool
}

/// A passkey's signature that a client sends.
package struct PasskeyAssertion: Sendable, Equatable {
    /// The exact bytes of the client data, which the signature covers.
    package var clientData: [UInt8]
    package var authenticatorData: [UInt8]
    package var signature: [UInt8]
    /// The user handle; `nil` if the client does not send one.
    package var userHandle: [UInt8]?
    /// The credential's id; `nil` if the protocol does not transmit it.
    package var credentialID: [UInt8]?

    package init(
        clientData: [UInt8], authenticatorData: [UInt8], signature: [UInt8], userHandle: [UInt8]? = nil, credentialID: [UInt8]? = nil
    ) {
        (self.clientData, self.authenticatorData, self.signature) = (clientData, authenticatorData, signature)
        (self.userHandle, self.credentialID) = (userHandle, credentialID)
    }

    /// The maximum length of an encoded value.
    private static let longestText = 16_384

    /// Decodes base64url or standard base64, with or without padding; `nil` if the text is neither, or is too long.
    package static func decode(_ text: String) -> [UInt8]? {
        guard text.utf8.count <= longestText else { return nil }
        let digits = text.utf8.prefix { $0 != UInt8(ascii: "=") }
        let padding = text.utf8.dropFirst(digits.count)
        guard padding.count <= 2, padding.allSatisfy({ $0 == UInt8(ascii: "=") }) else { return nil }
        return try? Base64URL.decode(
            digits.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: "-") : $0 == UInt8(ascii: "/") ? UInt8(ascii: "_") : $0 })
    }

    /// Returns the challenge in encoded client data; `nil` if the text contains none. Does not verify the signature.
    package static func challenge(in text: String) -> String? { decode(text).flatMap { try? ClientData($0).challenge } }

    /// The challenge in the client data; `nil` if the data contains none. The signature is not verified.
    package var challenge: String? { try? ClientData(clientData).challenge }
}

/// A challenge for a passkey, in a sign-in or a registration.
package struct PasskeyChallenge: Sendable, Equatable, Codable {
    /// The lifetime of a sign-in's challenge, in seconds.
    package static let lifetime: TimeInterval = 300

    /// The challenge in base64url: 32 random bytes.
    package var secret: String
    /// The ids of the enrollments that can sign the challenge; `nil` for every passkey of the organization.
    package var credentials: [String]?
    package var requiresUserVerification: Bool
    package var expiresAt: Date
    /// The work that replaces the check of an answer if the sign-in has no passkey; `nil` in a sign-in with passkeys.
    package var standIns: PasskeyStandIns?

    package init(
        secret: String, credentials: [String]?, requiresUserVerification: Bool, expiresAt: Date, standIns: PasskeyStandIns? = nil
    ) {
        (self.secret, self.credentials, self.standIns) = (secret, credentials, standIns)
        (self.requiresUserVerification, self.expiresAt) = (requiresUserVerification, expiresAt)
    }

    /// Whether the challenge is for these passkeys with this user verification, and is valid for more than a minute.
    package func isOpen(to passkeys: [Enrollment], mustVerifyUser: Bool, at now: Date) -> Bool {
        credentials == passkeys.map(\.id) && requiresUserVerification == mustVerifyUser && now.addingTimeInterval(60) < expiresAt
    }
}

extension PasskeyAssertion: Redacted {}

/// The work that replaces the check of a response in a sign-in without a passkey, so that the time does not reveal whether the user exists
/// or has passkeys.
package struct PasskeyStandIns: Sendable, Equatable, Codable {
    /// The number of signature checks: that of the credentials in the response.
    package var credentials: Int
    /// The ``Decoy/number`` of the account that is read in place of the user's; `nil` if the user can sign in.
    package var decoy: Int?

    package init(credentials: Int, decoy: Int?) { (self.credentials, self.decoy) = (credentials, decoy) }
}
