internal import Crypto
package import JOSE
package import OktaDirectAuth
internal import WebAuthn

/// A passkey in software that can be stored as JSON. The key is a part of the JSON, so this passkey is for development only.
/// Like a synchronized passkey, it counts no signatures, and a stored passkey never changes.
package struct SoftwarePasskey: Sendable {
    /// The id of the credential in base64url.
    package let id: String
    package let relyingPartyID: String
    /// The origin of the server that registered the passkey. Only this server's challenges may be signed: another server of the domain
    /// could forward one.
    package let origin: String
    /// The name of the account.
    package let userName: String
    private let userHandle: [UInt8]
    private let key: P256.Signing.PrivateKey

    /// A stored passkey that cannot be read.
    package struct Unreadable: Error {}

    /// The response to creation options, in base64url.
    package struct Registration: Sendable {
        package var clientData: String
        package var attestation: String
    }

    /// Creates a passkey for creation options (`PublicKeyCredentialCreationOptionsJSON`).
    /// - Parameter server: The origin of the server that sent the options.
    /// - Throws: ``Unreadable`` for options without a required member, or `WebAuthnError`.
    package static func create(
        for options: JSONValue, from server: String, using random: inout some RandomNumberGenerator
    ) throws -> (passkey: SoftwarePasskey, registration: Registration) {
        func text(_ object: String, _ name: String) throws -> String {
            guard let text = options[object]?[name]?.stringValue else { throw Unreadable() }
            return text
        }
        guard let challenge = options["challenge"]?.stringValue else { throw Unreadable() }
        let (relyingPartyID, userName) = (try text("rp", "id"), try text("user", "name"))
        let options = try CreationOptions(
            relyingParty: RelyingParty(id: relyingPartyID, name: "", origins: []), userHandle: Base64URL.decode(text("user", "id")),
            userName: userName, userDisplayName: userName, challenge: Base64URL.decode(challenge))
        var authenticator = SoftwareAuthenticator()
        authenticator.counts = false
        let response = try authenticator.create(options, origin: "https://" + relyingPartyID, using: &random)["response"]
        guard let made = authenticator.credentials.last, case .es256(let key) = made.key else { throw Unreadable() }
        let passkey = SoftwarePasskey(
            id: Base64URL.encode(made.id), relyingPartyID: relyingPartyID, origin: server, userName: userName, userHandle: made.userHandle,
            key: key)
        let registration = Registration(
            clientData: response?["clientDataJSON"]?.stringValue ?? "", attestation: response?["attestationObject"]?.stringValue ?? "")
        return (passkey, registration)
    }

    /// Signs the challenge of a sign-in. The caller ensures that the server at ``origin`` sent it.
    /// - Throws: ``FactorError`` if the options ask for other passkeys or another RP ID, or their challenge is not base64url.
    package func assertion(
        for options: OktaDirectAuth.WebAuthn.CredentialRequestOptions
    ) throws -> OktaDirectAuth.WebAuthn.AuthenticatorAssertionResponse {
        var authenticator = SoftwareAuthenticator()
        authenticator.counts = false
        authenticator.keep(.init(id: try Base64URL.decode(id), userHandle: userHandle, key: .es256(key), signCount: 0))
        return try authenticator.assertion(for: options, credentialID: id, relyingPartyID: relyingPartyID)
    }
}

extension SoftwarePasskey {
    /// Creates a passkey from its stored JSON. Throws ``Unreadable``.
    package init(_ json: JSONValue) throws {
        func text(_ name: String) throws -> String {
            guard let text = json[name]?.stringValue else { throw Unreadable() }
            return text
        }
        (id, relyingPartyID, origin, userName) = (try text("id"), try text("rp_id"), try text("origin"), try text("user"))
        do {
            userHandle = try Base64URL.decode(text("user_handle"))
            key = try P256.Signing.PrivateKey(rawRepresentation: Base64URL.decode(text("private_key")))
        } catch { throw Unreadable() }
    }

    /// The JSON to store. It contains the private key.
    package var secretJSON: JSONValue {
        [
            "id": .string(id), "rp_id": .string(relyingPartyID), "origin": .string(origin), "user": .string(userName),
            "user_handle": .string(Base64URL.encode(userHandle)), "private_key": .string(Base64URL.encode(Array(key.rawRepresentation))),
        ]
    }
}

extension SoftwarePasskey: Redacted {
    package var description: String { "passkey \(id)" }
}

extension SoftwareAuthenticator {
    /// Signs the challenge of a sign-in with a credential, at the origin of an app on Apple's systems.
    /// - Throws: ``FactorError`` if the options ask for other passkeys or another RP ID, or their challenge is not base64url.
    mutating func assertion(
        for options: OktaDirectAuth.WebAuthn.CredentialRequestOptions, credentialID: String, relyingPartyID: String
    ) throws -> OktaDirectAuth.WebAuthn.AuthenticatorAssertionResponse {
        let request = options.publicKey
        guard let challenge = try? Base64URL.decode(request.challenge) else {
            throw FactorError(.wrongPasskey, "The challenge is not base64url.")
        }
        let ids = request.allowCredentials?.map(\.id) ?? []
        guard ids.isEmpty || ids.contains(credentialID), request.rpID ?? relyingPartyID == relyingPartyID else {
            throw FactorError(.wrongPasskey, "The server asks for other passkeys than this one.")
        }
        let response = try get(
            RequestOptions(relyingPartyID: relyingPartyID, challenge: challenge, allowed: []), origin: "https://" + relyingPartyID)
        func text(_ name: String) -> String { response["response"]?[name]?.stringValue ?? "" }
        return .init(
            clientDataJSON: text("clientDataJSON"), authenticatorData: text("authenticatorData"), signature: text("signature"),
            userHandle: text("userHandle"))
    }
}
