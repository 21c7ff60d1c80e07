package import Crypto
package import JOSE
package import WebAuthn

/// A client and authenticator in software: answers creation and request options as a browser does.
/// The random bytes come from the caller. Flags, attestation and single parts of the responses can be changed, so that tests can create
/// every response that the relying party must reject.
package struct SoftwareAuthenticator: Sendable {
    /// The attestation that the authenticator gives.
    package enum Attestation: Sendable {
        case none
        /// The credential's own key signs.
        case packedSelf
        /// The closure gets the authenticator, the credential's key and the bytes to sign, and returns the format and the statement.
        case signed(@Sendable (SoftwareAuthenticator, CredentialKey, [UInt8]) throws -> (format: String, statement: CBORValue))
        /// A statement that the authenticator does not check.
        case other(format: String, statement: CBORValue)
    }

    /// A stored credential.
    package struct Credential: Sendable {
        package var id: [UInt8]
        package var userHandle: [UInt8]
        package var key: CredentialKey
        package var signCount: UInt32
    }

    /// Changes of single parts of a response. Changes of the client data and of the authenticator data are signed.
    package struct Changes: Sendable {
        package var clientData: @Sendable (inout JSONValue) -> Void = { _ in }
        /// Changes the text of the client data, after `clientData`.
        package var clientDataText: @Sendable (inout [UInt8]) -> Void = { _ in }
        package var credentialID: @Sendable (inout [UInt8]) -> Void = { _ in }
        package var publicKey: @Sendable (inout CBORValue) -> Void = { _ in }
        package var authenticatorData: @Sendable (inout [UInt8]) -> Void = { _ in }
        package var statement: @Sendable (inout CBORValue) -> Void = { _ in }
        package var attestationObject: @Sendable (inout CBORValue) -> Void = { _ in }
        package var signature: @Sendable (inout [UInt8]) -> Void = { _ in }
        package var response: @Sendable (inout JSONValue) -> Void = { _ in }

        package init() {}
    }

    package var aaguid: AAGUID
    package var flags: AuthenticatorData.Flags = [.userPresent, .userVerified, .backupEligible, .backupState]
    package var attestation = Attestation.none
    /// The algorithm of new credentials.
    package var algorithm = COSEAlgorithm.es256
    /// Whether the authenticator counts signatures. Without a counter, the count is always 0.
    package var counts = true
    package var transports = ["internal", "hybrid"]
    package var changes = Changes()
    package private(set) var credentials: [Credential] = []

    package init(aaguid: AAGUID = .zero) { self.aaguid = aaguid }

    /// Adds a credential that was created before.
    package mutating func keep(_ credential: Credential) { credentials.append(credential) }

    /// Creates a credential and returns the `RegistrationResponseJSON`.
    package mutating func create(
        _ options: CreationOptions, origin: String, using random: inout some RandomNumberGenerator
    ) throws -> JSONValue {
        let key = try CredentialKey(algorithm, using: &random)
        var id = random.bytes(32)
        changes.credentialID(&id)
        let credential = Credential(id: id, userHandle: options.userHandle, key: key, signCount: counts ? 1 : 0)
        credentials.append(credential)

        var publicKey = key.publicKey(algorithm)
        changes.publicKey(&publicKey)
        let length = [UInt8(id.count >> 8), UInt8(id.count & 255)]
        let data = authenticatorData(
            relyingPartyID: options.relyingParty.id, flags: flags.union(.attestedCredential), signCount: credential.signCount,
            attested: aaguid.bytes + length + id + publicKey.encoded)
        let clientData = clientData(.create, challenge: options.challenge, origin: origin)
        var (format, statement) = try statement(for: key, signedBytes: data + SHA256.hash(data: clientData), using: &random)
        changes.statement(&statement)
        var object: CBORValue = .map([.text("fmt"): .text(format), .text("attStmt"): statement, .text("authData"): .bytes(data)])
        changes.attestationObject(&object)
        return response(
            id: id,
            [
                "clientDataJSON": .string(Base64URL.encode(clientData)), "attestationObject": .string(Base64URL.encode(object.encoded)),
                "transports": JSONValue(transports),
            ],
            extensions: ["credProps": ["rk": true]])
    }

    /// Signs with the last credential, or with the last one on the options' list, and returns the `AuthenticationResponseJSON`.
    package mutating func get(_ options: RequestOptions, origin: String) throws -> JSONValue {
        let allowed = Set(options.allowed.map(\.id))
        guard let index = credentials.lastIndex(where: { allowed.isEmpty || allowed.contains($0.id) }) else { throw NoCredential() }
        if counts { credentials[index].signCount += 1 }
        let credential = credentials[index]
        let data = authenticatorData(
            relyingPartyID: options.relyingPartyID, flags: flags, signCount: credential.signCount, attested: [])
        let clientData = clientData(.get, challenge: options.challenge, origin: origin)
        var signature = try credential.key.signature(for: data + SHA256.hash(data: clientData))
        changes.signature(&signature)
        return response(
            id: credential.id,
            [
                "clientDataJSON": .string(Base64URL.encode(clientData)), "authenticatorData": .string(Base64URL.encode(data)),
                "signature": .string(Base64URL.encode(signature)), "userHandle": .string(Base64URL.encode(credential.userHandle)),
            ],
            extensions: [:])
    }

    /// No stored credential is on the options' list.
    package struct NoCredential: Error {}

    private func response(id: [UInt8], _ members: JSONValue, extensions: JSONValue) -> JSONValue {
        var response: JSONValue = [
            "id": .string(Base64URL.encode(id)), "rawId": .string(Base64URL.encode(id)), "type": "public-key", "response": members,
            "authenticatorAttachment": "platform", "clientExtensionResults": extensions,
        ]
        changes.response(&response)
        return response
    }

    private func clientData(_ ceremony: ClientData.Ceremony, challenge: [UInt8], origin: String) -> [UInt8] {
        var json: JSONValue = [
            "type": .string(ceremony.rawValue), "challenge": .string(Base64URL.encode(challenge)), "origin": .string(origin),
            "crossOrigin": false,
        ]
        changes.clientData(&json)
        var text = json.serialized()
        changes.clientDataText(&text)
        return text
    }

    private func authenticatorData(
        relyingPartyID: String, flags: AuthenticatorData.Flags, signCount: UInt32, attested: [UInt8]
    ) -> [UInt8] {
        let count = [24, 16, 8, 0].map { UInt8(signCount >> $0 & 255) }
        var data = Array(SHA256.hash(data: Array(relyingPartyID.utf8))) + [flags.rawValue] + count + attested
        changes.authenticatorData(&data)
        return data
    }

    private func statement(
        for key: CredentialKey, signedBytes: [UInt8], using random: inout some RandomNumberGenerator
    ) throws -> (format: String, statement: CBORValue) {
        switch attestation {
        case .none: return ("none", .map([:]))
        case .packedSelf:
            var signature = try key.signature(for: signedBytes)
            changes.signature(&signature)
            return ("packed", .map([.text("alg"): .integer(algorithm.rawValue), .text("sig"): .bytes(signature)]))
        case .signed(let sign): return try sign(self, key, signedBytes)
        case .other(let format, let statement): return (format, statement)
        }
    }
}

/// The private key of a credential.
package enum CredentialKey: Sendable {
    case es256(P256.Signing.PrivateKey)
    case es384(P384.Signing.PrivateKey)
    case edDSA(Curve25519.Signing.PrivateKey)
    case rs256(SigningKey)

    /// Creates a key from random bytes. An RSA key comes from the cryptographic library, which uses its own random source.
    package init(_ algorithm: COSEAlgorithm, using random: inout some RandomNumberGenerator) throws {
        switch algorithm {
        case .es256, .esp256: self = .es256(try P256.Signing.PrivateKey(rawRepresentation: random.bytes(32)))
        case .es384, .esp384: self = .es384(try P384.Signing.PrivateKey(rawRepresentation: random.bytes(48)))
        case .edDSA, .ed25519: self = .edDSA(try Curve25519.Signing.PrivateKey(rawRepresentation: random.bytes(32)))
        case .rs256: self = .rs256(try SigningKey.generate(.rs256, keyID: nil))
        }
    }

    /// Signs in the format of WebAuthn.
    package func signature(for message: [UInt8]) throws -> [UInt8] {
        switch self {
        case .es256(let key): Array(try key.signature(for: message).derRepresentation)
        case .es384(let key): Array(try key.signature(for: message).derRepresentation)
        case .edDSA(let key): Array(try key.signature(for: message))
        case .rs256(let key): try key.signature(for: message)
        }
    }

    /// The public key as a COSE key with the given algorithm.
    package func publicKey(_ algorithm: COSEAlgorithm) -> CBORValue {
        func point(type: Int64, curve: Int64, _ coordinates: [ArraySlice<UInt8>]) -> CBORValue {
            var members: [CBORKey: CBORValue] = [
                .integer(1): .integer(type), .integer(3): .integer(algorithm.rawValue), .integer(-1): .integer(curve),
            ]
            for (index, coordinate) in coordinates.enumerated() { members[.integer(-2 - Int64(index))] = .bytes(Array(coordinate)) }
            return .map(members)
        }
        switch self {
        case .es256(let key):
            let raw = Array(key.publicKey.rawRepresentation)
            return point(type: 2, curve: 1, [raw[..<32], raw[32...]])
        case .es384(let key):
            let raw = Array(key.publicKey.rawRepresentation)
            return point(type: 2, curve: 2, [raw[..<48], raw[48...]])
        case .edDSA(let key): return point(type: 1, curve: 6, [Array(key.publicKey.rawRepresentation)[...]])
        case .rs256(let key):
            let numbers = key.publicKey?.json()
            func bytes(_ name: String) -> CBORValue { .bytes(numbers?[name]?.stringValue.flatMap { try? Base64URL.decode($0) } ?? []) }
            return .map([
                .integer(1): .integer(3), .integer(3): .integer(algorithm.rawValue), .integer(-1): bytes("n"), .integer(-2): bytes("e"),
            ])
        }
    }
}

extension CBORValue {
    /// The CTAP2 canonical encoding: shortest heads, and keys sorted by length and then by bytes.
    package var encoded: [UInt8] {
        switch self {
        case .integer(let value): value >= 0 ? Self.head(0, UInt64(value)) : Self.head(1, UInt64(-1 - value))
        case .bytes(let bytes): Self.head(2, UInt64(bytes.count)) + bytes
        case .text(let text): Self.head(3, UInt64(text.utf8.count)) + text.utf8
        case .array(let elements): Self.head(4, UInt64(elements.count)) + elements.flatMap(\.encoded)
        case .map(let members):
            Self.head(5, UInt64(members.count)) + Self.sorted(members).flatMap { $0.key + $0.value }
        case .bool(let value): [value ? 0xF5 : 0xF4]
        case .null: [0xF6]
        case .undefined: [0xF7]
        case .float(let bits): [bits.count == 2 ? 0xF9 : bits.count == 4 ? 0xFA : 0xFB] + bits
        }
    }

    private static func sorted(_ members: [CBORKey: CBORValue]) -> [(key: [UInt8], value: [UInt8])] {
        let encoded = members.map { (key: $0.key.encoded, value: $0.value.encoded) }
        return encoded.sorted {
            $0.key.count == $1.key.count ? $0.key.lexicographicallyPrecedes($1.key) : $0.key.count < $1.key.count
        }
    }

    private static func head(_ type: UInt8, _ argument: UInt64) -> [UInt8] {
        func bytes(_ count: Int) -> [UInt8] { (0..<count).reversed().map { UInt8(argument >> (8 * UInt64($0)) & 255) } }
        return switch argument {
        case ..<24: [type << 5 | UInt8(argument)]
        case ..<(1 << 8): [type << 5 | 24] + bytes(1)
        case ..<(1 << 16): [type << 5 | 25] + bytes(2)
        case ..<(1 << 32): [type << 5 | 26] + bytes(4)
        default: [type << 5 | 27] + bytes(8)
        }
    }
}

extension CBORKey {
    fileprivate var encoded: [UInt8] {
        switch self {
        case .integer(let value): CBORValue.integer(value).encoded
        case .text(let text): CBORValue.text(text).encoded
        }
    }
}

extension RandomNumberGenerator {
    package mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) } }
}
