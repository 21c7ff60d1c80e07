internal import Foundation
internal import HummingbirdTLS
internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOSSL
internal import StoreSQLite

/// The certificate and key of new TLS connections, which are replaced when their files change. Safe from any task.
final class CurrentCertificate: Sendable {
    private struct Content: Sendable {
        var material: TLSMaterial.Content
        var replacement: NIOSSLContextConfigurationOverride
    }

    private let tls: AuthorizationServer.Configuration.TLS
    private let content: NIOLockedValueBox<Content>
    /// Held while files are read and compared, so that an older reading never replaces a newer one.
    private let reloading = NIOLock()

    /// Reads the files. Throws a ``ConfigurationError`` that names the unusable file.
    init(_ tls: AuthorizationServer.Configuration.TLS) throws {
        self.tls = tls
        content = NIOLockedValueBox(try Self.content(try TLSMaterial.Content(tls)))
    }

    /// Returns the configuration of a listener, which asks for the current certificate at each handshake.
    func serverConfiguration() throws -> TLSConfiguration {
        var configuration = try content.withLockedValue { $0.material }.serverConfiguration()
        configuration.sslContextCallback = { [content] _, promise in promise.succeed(content.withLockedValue { $0.replacement }) }
        return configuration
    }

    /// Reads the files again, and returns whether they changed. Throws ``ConfigurationError``; the previous certificate then stays in use.
    func reload() throws -> Bool {
        reloading.lock()
        defer { reloading.unlock() }
        let material = try TLSMaterial.Content(tls)
        guard material != content.withLockedValue({ $0.material }) else { return false }
        let next = try Self.content(material)
        content.withLockedValue { $0 = next }
        return true
    }

    private static func content(_ material: TLSMaterial.Content) throws -> Content {
        let configuration = try material.serverConfiguration()
        do {
            // Fails if the key does not belong to the certificate.
            _ = try NIOSSLContext(configuration: configuration)
        } catch {
            throw ConfigurationError(
                key: "tls-key", message: "The private key does not belong to the certificate. Name the key of the first certificate.")
        }
        var replacement = NIOSSLContextConfigurationOverride()
        (replacement.certificateChain, replacement.privateKey) = (configuration.certificateChain, configuration.privateKey)
        return Content(material: material, replacement: replacement)
    }
}

/// Reads and checks the TLS certificate and key.
enum TLSMaterial {
    /// The bytes of both files.
    struct Content: Sendable, Equatable {
        let chain: [UInt8]
        let key: [UInt8]

        /// Reads the files. Throws ``ConfigurationError`` if the key's file is unsafe.
        init(_ tls: AuthorizationServer.Configuration.TLS) throws(ConfigurationError) {
            switch tls.certificateChain {
            case .file(let path): chain = (try? Array(Data(contentsOf: URL(filePath: path)))) ?? []
            case .text(let text): chain = Array(text.utf8)
            }
            switch tls.privateKey {
            case .file(let path): key = try TLSMaterial.read(path)
            case .text(let text): key = Array(text.utf8)
            }
        }

        /// Returns the configuration for TLS 1.2 and later. Throws a ``ConfigurationError`` that names the unreadable file.
        func serverConfiguration() throws(ConfigurationError) -> TLSConfiguration {
            guard let certificates = try? NIOSSLCertificate.fromPEMBytes(chain), !certificates.isEmpty else {
                throw ConfigurationError(
                    key: "tls-certificate",
                    message: "The certificate could not be read. Name a file with PEM certificates, the server's first.")
            }
            guard let key = try? NIOSSLPrivateKey(bytes: key, format: .pem) else {
                throw ConfigurationError(
                    key: "tls-key", message: "The private key could not be read. Name a file with an unencrypted PEM key.")
            }
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: certificates.map { .certificate($0) }, privateKey: .privateKey(key))
            configuration.minimumTLSVersion = .tlsv12
            configuration.cipherSuiteValues = TLSMaterial.ciphers
            configuration.applicationProtocols = ["http/1.1"]
            configuration.shutdownTimeout = TLSMaterial.shutdownTimeout
            return configuration
        }
    }

    /// Cipher suites of TLS 1.2: only forward secrecy and authenticated encryption (RFC 9325 section 4.2). TLS 1.3 has no others.
    fileprivate static let ciphers: [NIOTLSCipher] = [
        .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    ]

    /// The maximum wait for the client's `close_notify`. Until the connection is closed, it counts against the connection limit of its
    /// address.
    fileprivate static let shutdownTimeout = TimeAmount.milliseconds(200)

    /// The maximum size of a private key file in bytes.
    private static let largestKey = 1 << 20

    /// Reads a private key file. Returns an empty array if there is no file. Allows symbolic links, which certificate renewal tools create.
    fileprivate static func read(_ path: String) throws(ConfigurationError) -> [UInt8] {
        let file = try ConfigurationError.refusingUnsafe("tls-key") { () throws(FileProtection.Unsafe) in
            try FileProtection.open(path, .ownerOnly, followsLink: true)
        }
        return Array((try? file?.read(upToCount: largestKey)) ?? Data())
    }
}
