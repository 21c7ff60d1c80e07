internal import AuthFoundation
internal import Crypto
public import Foundation
internal import JOSE
internal import SwiftASN1
internal import X509

/// The sandbox's own certificate authority. It is created once per folder, so that clients must trust it only once.
///
/// The authority's name contains a part that is derived from its key. The authority's certificates have key identifiers, which strict
/// clients require (RFC 5280 §4.2.1.1 and §4.2.1.2; Python from 3.13 on, `openssl verify -x509_strict`).
///
/// The authority signs certificates for this machine's loopback names only. A critical name constraint enforces this, so that a leaked key
/// cannot be used for any other host.
public struct LocalAuthority: Sendable {
    /// The authority's certificate in PEM, which clients must trust.
    public let certificatePEM: String
    /// The common name of the authority's certificate. Each authority has a different name, so that a client can trust several authorities.
    public let name: String
    /// The file of the authority's certificate.
    public let certificateFile: URL
    private let certificate: Certificate
    private let key: P256.Signing.PrivateKey

    /// Returns the default folder of authorities: `$XDG_DATA_HOME/countersign`, or `~/.local/share/countersign`. It need not exist.
    public static func standardFolder(environment: [String: String] = ProcessInfo.processInfo.environment) -> URL {
        UserFolders.data(
            environment: environment, home: UserFolders.home(environment: environment, systemHome: NSHomeDirectory())
        ).appending(path: "countersign")
    }

    /// Whether a folder contains an authority: its certificate and its key. Writes nothing.
    public static func exists(in folder: URL) -> Bool {
        [keyFileName, certificateFileName].allSatisfy { FileManager.default.fileExists(atPath: folder.appending(path: $0).path()) }
    }

    private static let keyFileName = "sandbox-ca.key"
    private static let certificateFileName = "sandbox-ca.pem"

    /// Opens the authority of a folder, or creates it. It blocks while it reads and writes files.
    /// - Parameters:
    ///   - folder: The folder; created if it is missing.
    ///   - now: The real time.
    /// - Throws: An error if the folder is not writable or its files cannot be read.
    public init(folder: URL, now: Date) throws {
        let keyFile = folder.appending(path: Self.keyFileName)
        certificateFile = folder.appending(path: Self.certificateFileName)
        if let keyPEM = try? String(contentsOf: keyFile, encoding: .utf8),
            let pem = try? String(contentsOf: certificateFile, encoding: .utf8)
        {
            key = try P256.Signing.PrivateKey(pemRepresentation: keyPEM)
            certificate = try Certificate(pemEncoded: pem)
            name = Self.commonName(of: certificate) ?? Self.name(for: key)
            certificatePEM = pem.endingWithNewline
            return
        }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        key = P256.Signing.PrivateKey()
        name = Self.name(for: key)
        certificate = try Self.makeAuthority(name, key: key, now: now)
        certificatePEM = try certificate.serializeAsPEM().pemString.endingWithNewline
        // The key is written first, and is never readable by others, not even temporarily.
        guard
            FileManager.default.createFile(
                atPath: keyFile.path, contents: Data(key.pemRepresentation.endingWithNewline.utf8), attributes: [.posixPermissions: 0o600])
        else { throw CocoaError(.fileWriteNoPermission, userInfo: [NSFilePathErrorKey: keyFile.path]) }
        try Data(certificatePEM.utf8).write(to: certificateFile, options: .atomic)
    }

    /// Issues a certificate for this machine, valid for a year.
    /// - Parameter now: The real time.
    /// - Returns: The certificate followed by the authority's certificate, and the private key of the certificate, both in PEM.
    /// - Throws: An error if signing fails.
    public func issueCertificate(now: Date) throws -> (chainPEM: String, keyPEM: String) {
        let leafKey = P256.Signing.PrivateKey()
        let leaf = try Certificate(
            of: DistinguishedName { CommonName("localhost") }, key: leafKey.publicKey, now: now, issuer: certificate.subject, signedBy: key,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.serverAuth])
                SubjectKeyIdentifier(hash: Certificate.PublicKey(leafKey.publicKey))
                AuthorityKeyIdentifier(keyIdentifier: SubjectKeyIdentifier(hash: Certificate.PublicKey(key.publicKey)).keyIdentifier)
                SubjectAlternativeNames([
                    .dnsName("localhost"), .ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1])),
                    .ipAddress(ASN1OctetString(contentBytes: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1])),
                ])
            })
        return (try leaf.serializeAsPEM().pemString.endingWithNewline + certificatePEM, leafKey.pemRepresentation.endingWithNewline)
    }

    /// The name of the authority's certificate file in a folder of trusted authorities, without an extension; unique for each authority.
    package var fileName: String { "countersign-sandbox-\(Self.identifier(of: key))" }

    private static func name(for key: P256.Signing.PrivateKey) -> String {
        "Countersign sandbox on this machine (\(identifier(of: key)))"
    }

    private static func identifier(of key: P256.Signing.PrivateKey) -> String {
        SHA256.hash(data: key.publicKey.x963Representation).prefix(4).hexadecimal
    }

    private static func commonName(of certificate: Certificate) -> String? {
        certificate.subject.lazy.joined().first { $0.type == .RDNAttributeType.commonName }.flatMap { String($0.value) }
    }

    private static func makeAuthority(_ commonName: String, key: P256.Signing.PrivateKey, now: Date) throws -> Certificate {
        let name = try DistinguishedName {
            OrganizationName("Countersign")
            CommonName(commonName)
        }
        let identifier = SubjectKeyIdentifier(hash: Certificate.PublicKey(key.publicKey))
        return try Certificate(
            of: name, key: key.publicKey, now: now, years: 10, issuer: name, signedBy: key,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true, cRLSign: true))
                identifier
                AuthorityKeyIdentifier(keyIdentifier: identifier.keyIdentifier)
                Critical(
                    NameConstraints(
                        permittedDNSDomains: ["localhost"],
                        permittedIPRanges: [
                            ASN1OctetString(contentBytes: [127, 0, 0, 0, 255, 0, 0, 0]),
                            ASN1OctetString(
                                contentBytes: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1] + [UInt8](repeating: 255, count: 16)),
                        ]))
            })
    }
}

extension Certificate {
    /// Creates and signs a certificate. It is valid from the day before `now`, for a number of years.
    init(
        of subject: DistinguishedName, key: P256.Signing.PublicKey, now: Date, years: Double = 1, issuer: DistinguishedName,
        signedBy issuerKey: P256.Signing.PrivateKey, extensions: Certificate.Extensions
    ) throws {
        try self.init(
            version: .v3, serialNumber: SerialNumber(), publicKey: PublicKey(key), notValidBefore: now.addingTimeInterval(-86_400),
            notValidAfter: now.addingTimeInterval(years * 365 * 86_400), issuer: issuer, subject: subject,
            signatureAlgorithm: .ecdsaWithSHA256, extensions: extensions, issuerPrivateKey: PrivateKey(issuerKey))
    }
}

extension String {
    /// The text with a newline at its end, so that PEM files can be concatenated.
    fileprivate var endingWithNewline: String { hasSuffix("\n") ? self : self + "\n" }
}
