internal import Crypto
internal import Foundation
internal import JOSE
internal import SwiftASN1
internal import X509

/// A certificate for `localhost` by an authority that signs this one and no other: its key is forgotten at once.
///
/// Only providers that are given it trust it, so that a gateway needs neither a folder nor ``LocalAuthority``, whose constraints on addresses
/// the providers' TLS library cannot judge.
struct PushGatewayCertificate: Redacted {
    /// The authority's certificate: what providers have to trust.
    let authorityPEM: String
    /// The certificate to show, and its key.
    let certificatePEM: String
    let keyPEM: String

    /// Makes a certificate.
    ///
    /// - Parameter now: The real time, by which it is judged.
    /// - Throws: If it can't be signed.
    init(now: Date) throws {
        let authorityKey = P256.Signing.PrivateKey()
        let authority = try Self.certificate(
            "Countersign push gateway of a sandbox", key: authorityKey.publicKey, now: now, issuer: nil, issuerKey: authorityKey,
            extensions: Certificate.Extensions {
                SubjectKeyIdentifier(hash: Certificate.PublicKey(authorityKey.publicKey))
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true))
                Critical(NameConstraints(permittedDNSDomains: ["localhost"]))
            })
        let key = P256.Signing.PrivateKey()
        let certificate = try Self.certificate(
            "localhost", key: key.publicKey, now: now, issuer: authority.subject, issuerKey: authorityKey,
            extensions: Certificate.Extensions {
                SubjectKeyIdentifier(hash: Certificate.PublicKey(key.publicKey))
                AuthorityKeyIdentifier(
                    keyIdentifier: SubjectKeyIdentifier(hash: Certificate.PublicKey(authorityKey.publicKey)).keyIdentifier)
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.serverAuth])
                SubjectAlternativeNames([.dnsName("localhost")])
            })
        authorityPEM = try authority.serializeAsPEM().pemString
        certificatePEM = try certificate.serializeAsPEM().pemString
        keyPEM = key.pemRepresentation
    }

    /// Signs a certificate, good for a year; for itself if there is no issuer.
    private static func certificate(
        _ commonName: String, key: P256.Signing.PublicKey, now: Date, issuer: DistinguishedName?, issuerKey: P256.Signing.PrivateKey,
        extensions: Certificate.Extensions
    ) throws -> Certificate {
        let subject = try DistinguishedName {
            OrganizationName("Countersign")
            CommonName(commonName)
        }
        return try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: Certificate.PublicKey(key),
            notValidBefore: now.addingTimeInterval(-86_400), notValidAfter: now.addingTimeInterval(365 * 86_400),
            issuer: issuer ?? subject, subject: subject, signatureAlgorithm: .ecdsaWithSHA256, extensions: extensions,
            issuerPrivateKey: Certificate.PrivateKey(issuerKey))
    }
}
