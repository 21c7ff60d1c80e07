internal import Crypto
internal import Foundation
internal import JOSE
internal import SwiftASN1
internal import X509

/// A certificate for `localhost` by an authority that signs only this one; the authority's key is then discarded. Only providers that
/// receive the authority's certificate trust it, so a gateway needs no folder. ``LocalAuthority`` is unsuitable, because the providers' TLS
/// library cannot evaluate its address constraints.
struct PushGatewayCertificate: Redacted {
    /// The authority's certificate, which providers must trust.
    let authorityPEM: String
    /// The server certificate and its key.
    let certificatePEM: String
    let keyPEM: String

    /// Creates a certificate. `now` is the real time.
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

    /// Signs a certificate that is valid for a year; self-signed without an issuer.
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
