internal import Foundation
internal import HummingbirdTLS
internal import NIOCore
internal import NIOSSL
internal import StoreSQLite

/// Reads and checks the TLS certificate and key.
enum TLSMaterial {
    /// Cipher suites of TLS 1.2: only forward secrecy and authenticated encryption (RFC 9325 section 4.2). TLS 1.3 has no others.
    private static let ciphers: [NIOTLSCipher] = [
        .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    ]

    /// Returns the configuration for TLS 1.2 and later.
    /// - Throws: ``ConfigurationError`` that names what cannot be read.
    static func serverConfiguration(_ tls: AuthorizationServer.Configuration.TLS) throws -> TLSConfiguration {
        let pem =
            switch tls.privateKey {
            case .file(let path): try read(path)
            case .text(let text): Array(text.utf8)
            }
        let chain: [NIOSSLCertificate]
        do {
            chain =
                switch tls.certificateChain {
                case .file(let path): try NIOSSLCertificate.fromPEMFile(path)
                case .text(let text): try NIOSSLCertificate.fromPEMBytes(Array(text.utf8))
                }
        } catch {
            throw ConfigurationError(
                key: "tls-certificate", message: "The certificate could not be read. Name a file with PEM certificates, the server's first."
            )
        }
        guard let key = try? NIOSSLPrivateKey(bytes: pem, format: .pem) else {
            throw ConfigurationError(
                key: "tls-key", message: "The private key could not be read. Name a file with an unencrypted PEM key.")
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.minimumTLSVersion = .tlsv12
        configuration.cipherSuiteValues = ciphers
        configuration.applicationProtocols = ["http/1.1"]
        configuration.shutdownTimeout = shutdownTimeout
        return configuration
    }

    /// How long the server waits for the client's `close_notify`. The connection counts against the limit until then.
    private static let shutdownTimeout = TimeAmount.milliseconds(200)

    /// Maximum size of a private key file in bytes.
    private static let largestKey = 1 << 20

    /// Reads a private key file; empty if there is none. Allows symbolic links, which certificate renewal tools create.
    private static func read(_ path: String) throws(ConfigurationError) -> [UInt8] {
        let file = try ConfigurationError.refusingUnsafe("tls-key") { () throws(FileProtection.Unsafe) in
            try FileProtection.open(path, .ownerOnly, followsLink: true)
        }
        return Array((try? file?.read(upToCount: largestKey)) ?? Data())
    }
}
