package import JOSE

/// The response of a client to creation options (`RegistrationResponseJSON`, WebAuthn Level 3 §5.1.8). Unknown members are ignored, and so
/// are copies of the authenticator data and of the public key: the attestation object contains both.
package struct RegistrationResponse: Sendable {
    /// The credential id that the client states.
    package let id: [UInt8]
    /// The bytes of the client data.
    package let clientDataJSON: [UInt8]
    /// The bytes of the attestation object.
    package let attestationObject: [UInt8]
    /// The transports that the client states, such as `internal` and `hybrid`; sorted, without duplicates. Later specifications can add
    /// transports.
    package let transports: [String]
    /// `platform` or `cross-platform`; `nil` if the client does not state it.
    package let authenticatorAttachment: String?
    /// Whether the passkey can be found without its id (extension `credProps`); `nil` if the client does not state it.
    package let isDiscoverable: Bool?

    /// Parses the JSON text of a response, of at most 128 KiB.
    package init(parsing json: some Collection<UInt8>) throws(WebAuthnError) { try self.init(CredentialReader.parse(json)) }

    /// Reads a response. Checks its form only.
    package init(_ json: JSONValue) throws(WebAuthnError) {
        let reader = try CredentialReader(json)
        id = try reader.credentialID()
        clientDataJSON = try reader.bytes(.clientDataJSON, maximum: 16 << 10)
        attestationObject = try reader.bytes(.attestationObject, maximum: 64 << 10)
        transports = try reader.transports()
        authenticatorAttachment = try reader.attachment()
        isDiscoverable = try reader.extensionResults()["credProps"]?["rk"]?.boolValue
    }

    /// Creates a response from its parts, for protocols that transmit no id: the attestation object contains it. Throws if the object is
    /// malformed.
    package init(clientDataJSON: [UInt8], attestationObject: [UInt8]) throws(WebAuthnError) {
        guard let credential = try AttestationObject(attestationObject).authenticatorData.credential else { throw .credentialMissing }
        (id, self.clientDataJSON, self.attestationObject) = (credential.id, clientDataJSON, attestationObject)
        (transports, authenticatorAttachment, isDiscoverable) = ([], nil, nil)
    }
}

/// The response of a client to request options (`AuthenticationResponseJSON`, WebAuthn Level 3 §5.1.8). Unknown members and extension
/// outputs are ignored.
package struct AuthenticationResponse: Sendable {
    /// The id of the passkey. The caller finds the stored passkey by it.
    package let id: [UInt8]
    /// The bytes of the client data.
    package let clientDataJSON: [UInt8]
    /// The bytes of the authenticator data.
    package let authenticatorData: [UInt8]
    /// The signature over the authenticator data and the digest of the client data.
    package let signature: [UInt8]
    /// The handle of the user, which the authenticator stored at the registration; `nil` if the client does not state it.
    package let userHandle: [UInt8]?
    /// `platform` or `cross-platform`; `nil` if the client does not state it.
    package let authenticatorAttachment: String?

    /// Parses the JSON text of a response, of at most 128 KiB.
    package init(parsing json: some Collection<UInt8>) throws(WebAuthnError) { try self.init(CredentialReader.parse(json)) }

    /// Reads a response. Checks its form only.
    package init(_ json: JSONValue) throws(WebAuthnError) {
        let reader = try CredentialReader(json)
        id = try reader.credentialID()
        clientDataJSON = try reader.bytes(.clientDataJSON, maximum: 16 << 10)
        authenticatorData = try reader.bytes(.authenticatorData, maximum: 16 << 10)
        // An RSA key of 8192 bits signs with 1024 bytes.
        signature = try reader.bytes(.signature, maximum: 1024)
        userHandle = try reader.userHandle()
        authenticatorAttachment = try reader.attachment()
        _ = try reader.extensionResults()
    }

    /// Creates a response from its parts, for protocols with another form. A protocol that does not transmit the id tries each passkey that
    /// it asked for.
    package init(id: [UInt8], clientDataJSON: [UInt8], authenticatorData: [UInt8], signature: [UInt8], userHandle: [UInt8]?) {
        (self.id, self.clientDataJSON, self.authenticatorData) = (id, clientDataJSON, authenticatorData)
        (self.signature, self.userHandle, authenticatorAttachment) = (signature, userHandle, nil)
    }
}

/// A reader of the members that both responses have, with limits on their sizes.
private struct CredentialReader: Sendable {
    private let members: [String: JSONValue]
    private let response: [String: JSONValue]

    /// The maximum size of a credential id in bytes (WebAuthn Level 3 §4, Credential ID).
    static let maximumIDSize = 1023

    static func parse(_ json: some Collection<UInt8>) throws(WebAuthnError) -> JSONValue {
        do { return try JSONValue(parsing: json, limits: .init(maximumSize: 128 << 10)) } catch { throw .responseNotJSON }
    }

    init(_ json: JSONValue) throws(WebAuthnError) {
        guard let members = json.objectValue else { throw .responseNotJSON }
        guard let response = members["response"]?.objectValue else { throw .responseMember(.response) }
        (self.members, self.response) = (members, response)
        guard let type = members["type"]?.stringValue else { throw .responseMember(.type) }
        guard type == "public-key" else { throw .wrongCredentialType }
    }

    /// Decodes base64url text. The length is checked before the text is decoded.
    private func decoded(
        _ value: JSONValue?, _ member: WebAuthnError.ResponseMember, maximum: Int
    ) throws(WebAuthnError) -> [UInt8] {
        guard let text = value?.stringValue, text.utf8.count <= (maximum * 4 + 2) / 3, let bytes = try? Base64URL.decode(text) else {
            throw .responseMember(member)
        }
        return bytes
    }

    func credentialID() throws(WebAuthnError) -> [UInt8] {
        let id = try decoded(members["id"], .id, maximum: Self.maximumIDSize)
        guard !id.isEmpty else { throw .responseMember(.id) }
        guard try decoded(members["rawId"], .rawID, maximum: Self.maximumIDSize) == id else { throw .idsDiffer }
        return id
    }

    func bytes(_ member: WebAuthnError.ResponseMember, maximum: Int) throws(WebAuthnError) -> [UInt8] {
        try decoded(response[member.rawValue], member, maximum: maximum)
    }

    /// Reads the user handle, of at most 64 bytes (WebAuthn Level 3 §5.4.3). Clients may write `null` if there is none.
    func userHandle() throws(WebAuthnError) -> [UInt8]? {
        guard let value = response["userHandle"], !value.isNull else { return nil }
        let handle = try decoded(value, .userHandle, maximum: 64)
        guard !handle.isEmpty else { throw .responseMember(.userHandle) }
        return handle
    }

    /// Reads at most 16 transports of at most 32 letters, digits and hyphens.
    func transports() throws(WebAuthnError) -> [String] {
        guard let value = response["transports"], !value.isNull else { return [] }
        guard let names = value.stringArrayValue, names.count <= 16, names.allSatisfy(Self.isTransport) else {
            throw .responseMember(.transports)
        }
        return Set(names).sorted()
    }

    private static func isTransport(_ name: String) -> Bool {
        1...32 ~= name.utf8.count
            && name.utf8.allSatisfy {
                UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || $0 == UInt8(ascii: "-")
            }
    }

    func attachment() throws(WebAuthnError) -> String? {
        guard let value = members["authenticatorAttachment"], !value.isNull else { return nil }
        guard let text = value.stringValue, text.utf8.count <= 32 else { throw .responseMember(.authenticatorAttachment) }
        // Unknown values are treated as absent (WebAuthn Level 3 §5.1).
        return ["platform", "cross-platform"].contains(text) ? text : nil
    }

    func extensionResults() throws(WebAuthnError) -> JSONValue {
        guard let value = members["clientExtensionResults"], !value.isNull else { return [:] }
        guard value.objectValue != nil else { throw .responseMember(.clientExtensionResults) }
        return value
    }
}
