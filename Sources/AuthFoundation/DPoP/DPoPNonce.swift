import Foundation
import JOSE

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The nonce that a server requires in the next proof (RFC 9449 §8).
enum DPoPNonce {
    static let header = "DPoP-Nonce"
    static let proofHeader = "DPoP"
    static let error = "use_dpop_nonce"

    /// Returns the nonce in the proof of a request, or `nil` if there is none.
    static func proved(in request: URLRequest) -> String? {
        let parts = request.value(forHTTPHeaderField: proofHeader)?.split(separator: ".") ?? []
        guard parts.count == 3, let claims = Data(base64URLEncoded: parts[1]).flatMap({ try? JSON($0) }) else { return nil }
        return claims["nonce"]?.string
    }

    /// Whether the nonce has only the characters of RFC 9449 §8.1, and 1 to 1024 bytes.
    static func isAcceptable(_ nonce: String) -> Bool {
        (1...1024).contains(nonce.utf8.count)
            && nonce.utf8.allSatisfy { $0 == 0x21 || (0x23...0x5B).contains($0) || (0x5D...0x7E).contains($0) }
    }

    /// Whether the request was rejected because its proof lacks the nonce: status 400 from an authorization server, 401 from a resource
    /// server.
    static func isAsked(for response: HTTPURLResponse, body: Data?) -> Bool {
        guard let nonce = response.header(header), isAcceptable(nonce) else { return false }
        switch response.statusCode {
        case 400: return body.flatMap { try? JSON($0) }?["error"]?.string == error
        case 401:
            let challenge = response.header("WWW-Authenticate") ?? ""
            return challenge.lowercased().contains("dpop ") && challenge.contains("\"\(error)\"")
        default: return false
        }
    }
}
