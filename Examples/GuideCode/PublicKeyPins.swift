#if canImport(Security) && canImport(CryptoKit)
import CryptoKit
import Foundation
import Security

/// Accepts a host only if its certificate chain contains a pinned public key.
final class PublicKeyPins: NSObject, URLSessionTaskDelegate, Sendable {
    private let host: String
    private let pins: Set<String>

    /// - Parameter pins: SHA-256 digests of public keys in Base64: of the key in use, and of a backup key.
    init(host: String, pins: Set<String>) { (self.host, self.pins) = (host, pins) }

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard challenge.protectionSpace.host == host, let trust = challenge.protectionSpace.serverTrust else {
            return completionHandler(.performDefaultHandling, nil)
        }
        // A pin does not replace the usual checks of the names, the dates and the issuer.
        guard SecTrustEvaluateWithError(trust, nil), hasPinnedKey(trust) else {
            return completionHandler(.cancelAuthenticationChallenge, nil)
        }
        completionHandler(.performDefaultHandling, nil)
    }

    // The endpoints of the server do not redirect.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    private func hasPinnedKey(_ trust: SecTrust) -> Bool {
        let chain = SecTrustCopyCertificateChain(trust) as? [SecCertificate] ?? []
        return chain.compactMap(Self.publicKeyInfo).contains { pins.contains(Data(SHA256.hash(data: $0)).base64EncodedString()) }
    }

    /// The key as in a certificate (SubjectPublicKeyInfo), for keys on P-256 and P-384.
    private static func publicKeyInfo(of certificate: SecCertificate) -> Data? {
        guard let key = SecCertificateCopyKey(certificate), let point = SecKeyCopyExternalRepresentation(key, nil) as Data? else {
            return nil
        }
        return (try? P256.Signing.PublicKey(x963Representation: point).derRepresentation)
            ?? (try? P384.Signing.PublicKey(x963Representation: point).derRepresentation)
    }
}
#endif

#if canImport(Security) && canImport(CryptoKit)
import AuthFoundation
import Foundation

/// Call this at the start of the app, before the first use of `Credential` and of a client.
func pinTheServer() {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpCookieStorage = nil
    configuration.urlCache = nil
    OAuth2Client.defaultSession = URLSession(
        configuration: configuration,
        delegate: PublicKeyPins(
            host: "id.example.com",
            pins: ["A8TCX7QwhUNNciJ36Kmblh8BT/thLPF32Jqw/YefkyY=", "CMCAWSJQH5nAQbZU5sp+cbvgr4HxFLmfG7t4cMa13XM="]),
        delegateQueue: nil)
}
#endif
