internal import Crypto
internal import JOSE
internal import SwiftASN1
internal import X509

/// The attestation object of a registration (WebAuthn Level 3 §6.5.4).
struct AttestationObject: Sendable {
    /// The maximum size of a format identifier in bytes (WebAuthn Level 3 §8.1).
    private static let maximumFormatSize = 32

    /// The identifier of the statement's format.
    let format: String
    let statement: [CBORKey: CBORValue]
    let authenticatorData: AuthenticatorData

    /// Decodes an attestation object, which must be the whole input. Unknown members are ignored.
    init(_ bytes: [UInt8]) throws(WebAuthnError) {
        let object: CBORValue
        do throws(CBORError) { object = try CBORValue(decoding: bytes) } catch { throw .attestationObjectNotCBOR(error) }
        guard let format = object["fmt"]?.textValue, format.utf8.count <= Self.maximumFormatSize else {
            throw .attestationObjectMember(.format)
        }
        guard let statement = object["attStmt"]?.mapValue else { throw .attestationObjectMember(.statement) }
        guard let data = object["authData"]?.bytesValue else { throw .attestationObjectMember(.authenticatorData) }
        self.format = format
        self.statement = statement
        authenticatorData = try AuthenticatorData(data)
    }
}

/// The verification procedures of the supported statement formats (WebAuthn Level 3 §8).
struct AttestationStatement: Sendable {
    /// The type of a valid attestation.
    enum Verified: Sendable {
        case none
        case selfAttested
        /// A certificate's key signed. The first certificate is the leaf. The chain is not verified yet.
        case certified([Certificate])
    }

    /// The maximum number of certificates in a statement.
    private static let maximumChainLength = 8

    let object: AttestationObject
    let credential: AuthenticatorData.Credential
    let publicKey: COSEPublicKey
    /// The authenticator data and the digest of the client data.
    let signedBytes: [UInt8]

    /// Registration steps 21 and 22.
    func verify(unsupportedFormat: AttestationPolicy.UnsupportedFormat) throws(WebAuthnError) -> Verified {
        switch object.format {
        case "none":
            // §8.7
            guard object.statement.isEmpty else { throw .attestationStatementInvalid }
            return .none
        case "packed": return try packed()
        case "apple": return try apple()
        default:
            guard unsupportedFormat == .treatAsNone else { throw .attestationFormatUnsupported }
            return .none
        }
    }

    private func requireMembers(_ names: Set<String>) throws(WebAuthnError) {
        guard Set(object.statement.keys) == Set(names.map(CBORKey.text)) else { throw .attestationStatementInvalid }
    }

    private func member(_ name: String) -> CBORValue? { object.statement[.text(name)] }

    /// §8.2
    private func packed() throws(WebAuthnError) -> Verified {
        let hasCertificates = member("x5c") != nil
        try requireMembers(hasCertificates ? ["alg", "sig", "x5c"] : ["alg", "sig"])
        guard let number = member("alg")?.integerValue, let signature = member("sig")?.bytesValue else {
            throw .attestationStatementInvalid
        }
        guard let algorithm = COSEAlgorithm(rawValue: number) else { throw .attestationAlgorithm }
        guard hasCertificates else {
            guard algorithm == publicKey.algorithm else { throw .attestationAlgorithm }
            guard publicKey.isValidSignature(signature, for: signedBytes) else { throw .attestationSignature }
            return .selfAttested
        }
        let chain = try certificates()
        guard let leaf = chain.first else { throw .attestationStatementInvalid }
        let key: VerificationKey
        do throws(JOSEError) { key = try VerificationKey(try jwk(of: leaf), algorithm: algorithm.jwsAlgorithm) } catch {
            throw .attestationAlgorithm
        }
        guard key.isValidWebAuthnSignature(signature, for: signedBytes) else { throw .attestationSignature }
        try checkPacked(leaf)
        return .certified(chain)
    }

    /// §8.8
    private func apple() throws(WebAuthnError) -> Verified {
        try requireMembers(["x5c"])
        let chain = try certificates()
        guard let leaf = chain.first else { throw .attestationStatementInvalid }
        guard let nonce = leaf.appleNonce, nonce == Array(SHA256.hash(data: signedBytes)) else { throw .attestationNonce }
        let key: JSONWebKey
        do throws(JOSEError) { key = try jwk(of: leaf) } catch { throw .attestationCertificate(.key) }
        // The thumbprint covers exactly the required members of a key.
        guard key.thumbprint == publicKey.jwk.thumbprint else { throw .attestationKey }
        return .certified(chain)
    }

    private func certificates() throws(WebAuthnError) -> [Certificate] {
        guard let items = member("x5c")?.arrayValue, !items.isEmpty else { throw .attestationStatementInvalid }
        guard items.count <= Self.maximumChainLength else { throw .attestationCertificate(.form) }
        var chain: [Certificate] = []
        for item in items {
            guard let bytes = item.bytesValue else { throw .attestationStatementInvalid }
            guard let certificate = try? Certificate(derEncoded: bytes) else { throw .attestationCertificate(.form) }
            chain.append(certificate)
        }
        return chain
    }

    private func jwk(of certificate: Certificate) throws(JOSEError) -> JSONWebKey {
        let pem: String
        do { pem = try certificate.publicKey.serializeAsPEM().pemString } catch {
            throw JOSEError(.invalidKey, "The certificate's key cannot be encoded.")
        }
        return try JSONWebKey(publicKeyPEM: pem)
    }

    /// §8.2.1
    private func checkPacked(_ leaf: Certificate) throws(WebAuthnError) {
        guard leaf.version == .v3 else { throw .attestationCertificate(.version) }
        func subject(_ type: ASN1ObjectIdentifier) -> [String] {
            leaf.subject.flatMap { $0 }.filter { $0.type == type }.compactMap { String($0.value) }
        }
        let country = subject(.RDNAttributeType.countryName)
        guard country.count == 1, country[0].utf8.count == 2, subject(.RDNAttributeType.organizationName).contains(where: { !$0.isEmpty }),
            subject(.RDNAttributeType.organizationalUnitName) == ["Authenticator Attestation"],
            subject(.RDNAttributeType.commonName).contains(where: { !$0.isEmpty })
        else { throw .attestationCertificate(.subject) }
        guard case .notCertificateAuthority = try? leaf.extensions.basicConstraints else { throw .attestationCertificate(.authority) }
        if let proof = leaf.extensions[oid: Certificate.aaguidExtension] {
            guard !proof.critical, let value = try? ASN1OctetString(derEncoded: Array(proof.value)),
                Array(value.bytes) == credential.aaguid.bytes
            else { throw .attestationCertificate(.aaguid) }
        }
    }
}

extension Certificate {
    /// The AAGUID, in packed attestation (`id-fido-gen-ce-aaguid`).
    static let aaguidExtension: ASN1ObjectIdentifier = [1, 3, 6, 1, 4, 1, 45724, 1, 1, 4]
    /// The nonce, in Apple's attestation.
    static let appleNonceExtension: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 8, 2]

    /// The nonce in Apple's extension: a sequence with an octet string that has the explicit tag 1.
    fileprivate var appleNonce: [UInt8]? {
        guard let proof = extensions[oid: Self.appleNonceExtension] else { return nil }
        return try? DER.sequence(try DER.parse(Array(proof.value)), identifier: .sequence) { nodes in
            try DER.explicitlyTagged(&nodes, tagNumber: 1, tagClass: .contextSpecific) { node in
                Array(try ASN1OctetString(derEncoded: node).bytes)
            }
        }
    }
}
