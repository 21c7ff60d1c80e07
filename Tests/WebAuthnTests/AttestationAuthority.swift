import CountersignSandbox
import Crypto
import Foundation
import SwiftASN1
import WebAuthn
import X509

/// A certificate authority of an authenticator's manufacturer.
struct AttestationAuthority: Sendable {
    /// Changes of the leaf certificate.
    struct Changes: Sendable {
        var version = Certificate.Version.v3
        var country: String? = "US"
        var unit = "Authenticator Attestation"
        var commonName: String? = "Test authenticator"
        /// `nil` leaves the extension out.
        var isAuthority: Bool? = false
        /// The AAGUID in the certificate; `nil` for that of the authenticator.
        var aaguid: AAGUID?
        var isAAGUIDCritical = false
        /// The nonce in Apple's certificate; `nil` for the right one.
        var nonce: [UInt8]?
        /// The key in Apple's certificate; `nil` for that of the credential.
        var key: CredentialKey?
        var notAfter = Date(timeIntervalSince1970: 2_000_000_000)
    }

    private let key: P256.Signing.PrivateKey
    private let name: DistinguishedName
    /// The root certificate in DER.
    let root: [UInt8]
    var changes = Changes()

    init(name: String = "Test root", using random: inout some RandomNumberGenerator) throws {
        key = try P256.Signing.PrivateKey(rawRepresentation: random.bytes(32))
        self.name = try DistinguishedName {
            OrganizationName("Countersign")
            CommonName(name)
        }
        root = try Self.der(
            Certificate(
                version: .v3, serialNumber: .init(bytes: [1] + random.bytes(15)), publicKey: .init(key.publicKey),
                notValidBefore: Date(timeIntervalSince1970: 1_500_000_000), notValidAfter: Date(timeIntervalSince1970: 2_500_000_000),
                issuer: self.name, subject: self.name, signatureAlgorithm: .ecdsaWithSHA256,
                extensions: Certificate.Extensions { Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil)) },
                issuerPrivateKey: .init(key)))
    }

    /// Issues a certificate for packed attestation, with a new key.
    func packedCertificate(
        aaguid: AAGUID, using random: inout some RandomNumberGenerator
    ) throws -> (certificate: [UInt8], key: P256.Signing.PrivateKey) {
        let leafKey = try P256.Signing.PrivateKey(rawRepresentation: random.bytes(32))
        let value = try Self.der(ASN1OctetString(contentBytes: (changes.aaguid ?? aaguid).bytes[...]))
        let proof = Certificate.Extension(
            oid: [1, 3, 6, 1, 4, 1, 45724, 1, 1, 4], critical: changes.isAAGUIDCritical, value: value[...])
        return (try leaf(.init(leafKey.publicKey), proof: proof, using: &random), leafKey)
    }

    /// Issues a certificate for Apple's attestation of a credential's key.
    func appleCertificate(for key: CredentialKey, nonce: [UInt8], using random: inout some RandomNumberGenerator) throws -> [UInt8] {
        var serializer = DER.Serializer()
        try serializer.appendConstructedNode(identifier: .sequence) { coder in
            try coder.serialize(
                ASN1OctetString(contentBytes: (changes.nonce ?? nonce)[...]), explicitlyTaggedWithTagNumber: 1,
                tagClass: .contextSpecific)
        }
        let proof = Certificate.Extension(
            oid: [1, 2, 840, 113635, 100, 8, 2], critical: false, value: serializer.serializedBytes[...])
        guard case .es256(let key) = changes.key ?? key else { throw CocoaError(.featureUnsupported) }
        return try leaf(.init(key.publicKey), proof: proof, using: &random)
    }

    private func leaf(
        _ publicKey: Certificate.PublicKey, proof: Certificate.Extension, using random: inout some RandomNumberGenerator
    ) throws -> [UInt8] {
        let subject = try DistinguishedName {
            if let country = changes.country { CountryName(country) }
            OrganizationName("Countersign")
            OrganizationalUnitName(changes.unit)
            if let commonName = changes.commonName { CommonName(commonName) }
        }
        let extensions = try Certificate.Extensions {
            switch changes.isAuthority {
            case true?: Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
            case false?: Critical(BasicConstraints.notCertificateAuthority)
            case nil: KeyUsage(digitalSignature: true)
            }
            proof
        }
        return try Self.der(
            Certificate(
                version: changes.version, serialNumber: .init(bytes: [1] + random.bytes(15)), publicKey: publicKey,
                notValidBefore: Date(timeIntervalSince1970: 1_600_000_000), notValidAfter: changes.notAfter, issuer: name, subject: subject,
                signatureAlgorithm: .ecdsaWithSHA256, extensions: extensions, issuerPrivateKey: .init(key)))
    }

    private static func der(_ value: some DERSerializable) throws -> [UInt8] {
        var serializer = DER.Serializer()
        try serializer.serialize(value)
        return serializer.serializedBytes
    }
}

extension SoftwareAuthenticator.Attestation {
    /// The key of a certificate signs.
    static func packed(_ authority: AttestationAuthority) -> Self {
        .signed { authenticator, _, signedBytes in
            var random = SeededGenerator(2)
            let leaf = try authority.packedCertificate(aaguid: authenticator.aaguid, using: &random)
            var signature = Array(try leaf.key.signature(for: signedBytes).derRepresentation)
            authenticator.changes.signature(&signature)
            let chain = CBORValue.array([.bytes(leaf.certificate)])
            return ("packed", .map([.text("alg"): .integer(-7), .text("sig"): .bytes(signature), .text("x5c"): chain]))
        }
    }

    /// A certificate for the credential's key contains a digest of the signed bytes.
    static func apple(_ authority: AttestationAuthority) -> Self {
        .signed { _, key, signedBytes in
            var random = SeededGenerator(3)
            let nonce = Array(SHA256.hash(data: signedBytes))
            let certificate = try authority.appleCertificate(for: key, nonce: nonce, using: &random)
            return ("apple", .map([.text("x5c"): .array([.bytes(certificate)])]))
        }
    }
}
