import AuthFoundation
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Diagnoses why the issuer's server cannot be reached: the scheme is wrong (http or https), or its certificate is not trusted.
struct ConnectionDiagnosis {
    private enum Answer { case response, untrustedCertificate, nothing }

    /// The discovery document.
    let url: URL

    /// Returns the diagnosis; `nil` if the error has another cause.
    func finding(for error: any Error) async -> Finding? {
        let failure = Self.failure(in: error)
        switch url.scheme?.lowercased() {
        case "https":
            guard let failure else { return nil }
            if failure.isUntrustedCertificate {
                return .wrong("Certificate", "This machine does not trust the certificate of \(host). \(advice)")
            }
            guard await answer(by: "http") == .response else { return nil }
            return .wrong(
                "Scheme", "The server at \(host) speaks http and not https. Write the issuer with http://, or start the server with TLS.")
        case "http":
            switch await answer(by: "https") {
            case .response: return .wrong("Scheme", "The server at \(host) speaks https and not http. Write the issuer with https://.")
            case .untrustedCertificate:
                return .wrong(
                    "Scheme",
                    "The server at \(host) speaks https and not http. Write the issuer with https://. This machine does not trust its certificate yet. \(advice)"
                )
            case .nothing: return nil
            }
        default: return nil
        }
    }

    private var host: String { (url.host() ?? "the issuer") + (url.port.map { ":\($0)" } ?? "") }

    private var advice: String {
        "If it is a sandbox, run `countersign trust`; otherwise install the server's certificate authority, or use a certificate of a public one."
    }

    /// Returns the server's response to a request with the other scheme.
    private func answer(by scheme: String) async -> Answer {
        guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return .nothing }
        parts.scheme = scheme
        guard let other = parts.url, LoopbackRule.isAcceptable(other) else { return .nothing }
        do {
            _ = try await EphemeralSession(isBrowserless: true).data(for: URLRequest(url: other, timeoutInterval: 5))
            return .response
        } catch {
            return Self.failure(in: error)?.isUntrustedCertificate == true ? .untrustedCertificate : .nothing
        }
    }

    private static func failure(in error: any Error) -> URLError? {
        switch error {
        case let error as URLError: error
        case APIClientError.httpError(let inner): failure(in: inner)
        default: nil
        }
    }
}

extension URLError {
    /// Whether the server's certificate was rejected. Foundation on Linux reports this only in the error text.
    fileprivate var isUntrustedCertificate: Bool {
        switch code {
        case .serverCertificateUntrusted, .serverCertificateHasUnknownRoot, .serverCertificateHasBadDate, .serverCertificateNotYetValid:
            true
        default: localizedDescription.lowercased().contains("certificate")
        }
    }
}
