internal import Crypto
internal import Foundation
internal import JOSE
internal import SwiftASN1
internal import X509

/// A certificate for `localhost` by an authority that signs only this certificate. The authority's key is then discarded, so a gateway
/// needs no folder. Only providers that receive the authority's certificate trust the gateway. ``LocalAuthority`` is unsuitable, because
/// the providers' TLS library cannot evaluate its address constraints.
struct PushGatewayCertificate: Redacted {
    /// The authority's certificate, which providers must trust.
    let authorityPEM: String
    /// The server certificate.
    let certificatePEM: String
    /// The private key of the server certificate.
    let keyPEM: String

    /// Creates a certificate. `now` is the real time.
    init(now: Date) throws {
        let authorityKey = P256.Signing.PrivateKey()
        let name = try Self.name("Countersign push gateway of a sandbox")
        let authority = try Certificate(
            of: name, key: authorityKey.publicKey, now: now, issuer: name, signedBy: authorityKey,
            extensions: Certificate.Extensions {
                SubjectKeyIdentifier(hash: Certificate.PublicKey(authorityKey.publicKey))
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true))
                Critical(NameConstraints(permittedDNSDomains: ["localhost"]))
            })
        let key = P256.Signing.PrivateKey()
        let certificate = try Certificate(
            of: Self.name("localhost"), key: key.publicKey, now: now, issuer: name, signedBy: authorityKey,
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

    private static func name(_ commonName: String) throws -> DistinguishedName {
        try DistinguishedName {
            OrganizationName("Countersign")
            CommonName(commonName)
        }
    }
}
