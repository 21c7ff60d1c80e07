package import JOSE

/// The importance of user verification by the authenticator (WebAuthn Level 3 §5.8.6).
package enum UserVerification: String, Sendable, Hashable, Codable, CaseIterable {
    /// The response is rejected if the authenticator did not verify the user.
    case required
    /// The authenticator verifies the user if it can.
    case preferred
    /// The authenticator should not verify the user.
    case discouraged
}

/// A passkey that options name.
package struct CredentialDescriptor: Sendable, Hashable {
    /// The credential id.
    package var id: [UInt8]
    /// The transports by which clients may reach the authenticator.
    package var transports: [String]

    /// Creates a descriptor.
    package init(id: [UInt8], transports: [String] = []) {
        self.id = id
        self.transports = transports
    }

    /// Creates the descriptor of a stored passkey.
    package init(_ passkey: StoredPasskey) { self.init(id: passkey.id, transports: passkey.transports) }

    fileprivate var json: JSONValue {
        var json: JSONValue = ["type": "public-key", "id": .string(Base64URL.encode(id))]
        if !transports.isEmpty { json["transports"] = JSONValue(transports) }
        return json
    }
}

/// Options for the registration of a passkey (`PublicKeyCredentialCreationOptionsJSON`).
package struct CreationOptions: Sendable {
    /// Whether the authenticator stores the passkey so that it can be found without its id.
    package enum ResidentKey: String, Sendable, Hashable {
        case required
        case preferred
        case discouraged
    }

    /// The attestation that the client should pass on.
    package enum Attestation: String, Sendable, Hashable {
        case none
        case indirect
        case direct
        case enterprise
    }

    /// The relying party.
    package var relyingParty: RelyingParty
    /// The user handle.
    package let userHandle: [UInt8]
    /// The name of the account, which distinguishes it from other accounts of the user.
    package var userName: String
    /// The name of the user.
    package var userDisplayName: String
    /// The challenge.
    package let challenge: [UInt8]
    /// The algorithms, most preferred first.
    package var algorithms = COSEAlgorithm.recommended
    /// The time after which the client stops waiting, in milliseconds; `nil` for the client's default.
    package var timeout: Int?
    /// The passkeys that the user has already. Their authenticators do not create another one.
    package var excluded: [CredentialDescriptor] = []
    /// `platform` or `cross-platform`; `nil` for both.
    package var authenticatorAttachment: String?
    /// Whether the passkey can be found without its id.
    package var residentKey = ResidentKey.required
    /// Whether the authenticator verifies the user.
    package var userVerification = UserVerification.required
    /// The attestation that the client should pass on.
    package var attestation = Attestation.none
    /// The kinds of authenticators that the client should show first, such as `client-device`.
    package var hints: [String] = []

    /// Creates options.
    /// - Parameters:
    ///   - userHandle: 1 to 64 random bytes that identify the user's account. They must not contain personal data.
    ///   - challenge: At least 16 random bytes that the server issued for this ceremony.
    package init(
        relyingParty: RelyingParty, userHandle: [UInt8], userName: String, userDisplayName: String, challenge: [UInt8]
    ) throws(WebAuthnError) {
        guard 1...64 ~= userHandle.count else { throw .userHandleLength }
        guard challenge.count >= 16 else { throw .challengeTooShort }
        self.relyingParty = relyingParty
        self.userHandle = userHandle
        self.userName = userName
        self.userDisplayName = userDisplayName
        self.challenge = challenge
    }

    /// The options as JSON. They ask for the extension `credProps`, which says whether the passkey can be found without its id.
    package var json: JSONValue {
        var selection: JSONValue = [
            "residentKey": .string(residentKey.rawValue), "requireResidentKey": .bool(residentKey == .required),
            "userVerification": .string(userVerification.rawValue),
        ]
        selection["authenticatorAttachment"] = authenticatorAttachment.map(JSONValue.string)
        var json: JSONValue = [
            "rp": ["id": .string(relyingParty.id), "name": .string(relyingParty.name)],
            "user": [
                "id": .string(Base64URL.encode(userHandle)), "name": .string(userName), "displayName": .string(userDisplayName),
            ],
            "challenge": .string(Base64URL.encode(challenge)),
            "pubKeyCredParams": .array(algorithms.map { ["type": "public-key", "alg": .integer($0.rawValue)] }),
            "excludeCredentials": .array(excluded.map(\.json)),
            "authenticatorSelection": selection,
            "attestation": .string(attestation.rawValue),
            "extensions": ["credProps": true],
        ]
        json["timeout"] = timeout.map { .integer(Int64($0)) }
        if !hints.isEmpty { json["hints"] = JSONValue(hints) }
        return json
    }
}

/// Options for the authentication with a passkey (`PublicKeyCredentialRequestOptionsJSON`).
package struct RequestOptions: Sendable {
    /// The RP ID.
    package var relyingPartyID: String
    /// The challenge.
    package let challenge: [UInt8]
    /// The passkeys that the client may use. If empty, the user chooses a passkey.
    package var allowed: [CredentialDescriptor]
    /// Whether the authenticator verifies the user.
    package var userVerification: UserVerification
    /// The time after which the client stops waiting, in milliseconds; `nil` for the client's default.
    package var timeout: Int?
    /// The kinds of authenticators that the client should show first, such as `client-device`.
    package var hints: [String] = []

    /// Creates options.
    /// - Parameter challenge: At least 16 random bytes that the server issued for this ceremony.
    package init(
        relyingPartyID: String, challenge: [UInt8], allowed: [CredentialDescriptor] = [], userVerification: UserVerification = .required
    ) throws(WebAuthnError) {
        guard challenge.count >= 16 else { throw .challengeTooShort }
        self.relyingPartyID = relyingPartyID
        self.challenge = challenge
        self.allowed = allowed
        self.userVerification = userVerification
    }

    /// The options as JSON.
    package var json: JSONValue {
        var json: JSONValue = [
            "rpId": .string(relyingPartyID), "challenge": .string(Base64URL.encode(challenge)),
            "allowCredentials": .array(allowed.map(\.json)), "userVerification": .string(userVerification.rawValue),
        ]
        json["timeout"] = timeout.map { .integer(Int64($0)) }
        if !hints.isEmpty { json["hints"] = JSONValue(hints) }
        return json
    }
}
