import Crypto
import Foundation
import JOSE

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What a client proves with one request (RFC 9449, 4.2).
struct DPoPProof {
    static let header = "DPoP"

    let method: String
    let url: URL
    let issuedAt: Date
    /// Different for each proof.
    let id: String
    let nonce: String?
    let accessToken: String?

    var claims: JSONValue {
        var claims: JSONValue = [
            "htm": .string(method), "htu": .string(target), "iat": .integer(issuedAt.numericDate), "jti": .string(id),
        ]
        if let nonce { claims["nonce"] = .string(nonce) }
        if let accessToken { claims["ath"] = .string(Base64URL.encode(Array(SHA256.hash(data: Data(accessToken.utf8))))) }
        return claims
    }

    /// The nonce in the proof that a request has.
    static func nonce(in request: URLRequest) -> String? {
        let parts = request.value(forHTTPHeaderField: header)?.split(separator: ".") ?? []
        guard parts.count == 3, let claims = Data(base64URLEncoded: parts[1]).flatMap({ try? JSON($0) }) else { return nil }
        return claims["nonce"]?.stringValue
    }

    /// The URL without query and fragment, and with the path that is sent where there is none.
    private var target: String {
        guard var components = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return url.absoluteString }
        components.query = nil
        components.fragment = nil
        components.user = nil
        components.password = nil
        if components.percentEncodedPath.isEmpty { components.percentEncodedPath = "/" }
        return components.string ?? url.absoluteString
    }
}

/// The value that a server wants in the next proof (RFC 9449, 8).
enum DPoPNonce {
    static let header = "DPoP-Nonce"
    static let error = "use_dpop_nonce"

    /// The characters of RFC 9449, 8.1, and no more of them than a header has room for.
    static func isAcceptable(_ nonce: String) -> Bool {
        (1...1024).contains(nonce.utf8.count)
            && nonce.utf8.allSatisfy { $0 == 0x21 || (0x23...0x5B).contains($0) || (0x5D...0x7E).contains($0) }
    }

    static func origin(of url: URL) -> String? {
        guard let scheme = url.scheme?.lowercased(), let host = url.host()?.lowercased() else { return nil }
        return "\(scheme)://\(host):\(url.port ?? (scheme == "https" ? 443 : 80))"
    }

    /// Whether an answer says that the request was refused for want of the nonce in it: 400 of an authorization server, 401 of a resource
    /// server.
    static func isAsked(for response: HTTPURLResponse, body: Data?) -> Bool {
        guard let nonce = response.header(header), isAcceptable(nonce) else { return false }
        switch response.statusCode {
        case 400: return body.flatMap { try? JSON($0) }?["error"] == .string(error)
        case 401:
            let challenge = response.header("WWW-Authenticate") ?? ""
            return challenge.lowercased().contains("dpop ") && challenge.contains("\"\(error)\"")
        default: return false
        }
    }
}
