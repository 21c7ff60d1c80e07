internal import Crypto
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOConcurrencyHelpers

/// The access rules of the phones' page: only a browser on this machine, and no requests from other pages.
final class PhonePageRules: Sendable {
    /// A secret that the page contains; other origins cannot read it.
    let token: String
    private let port = NIOLockedValueBox(0)

    init(token: String) {
        self.token = token
    }

    /// Sets the port. Before that, every request is refused.
    func listens(on port: Int) {
        self.port.withLockedValue { $0 = port }
    }

    private static let names: Set<String> = ["localhost", "127.0.0.1", "[::1]"]

    private var origins: Set<String> {
        let port = port.withLockedValue { $0 }
        guard port != 0 else { return [] }
        return Set(Self.names.flatMap { port == 80 ? ["http://\($0)", "http://\($0):80"] : ["http://\($0):\(port)"] })
    }

    /// Whether a request's `Host` is a loopback name with the page's own port.
    func isAddressed(_ request: Request) -> Bool {
        guard let authority = request.head.authority else { return false }
        return origins.contains("http://" + authority.lowercased())
    }

    /// Whether a request does not come from a page of another site.
    func isOfOwnPage(_ request: Request) -> Bool {
        if let site = Self.fetchSite.flatMap({ request.headers[$0] }), site != "same-origin", site != "none" { return false }
        guard let origin = request.headers[.origin] else { return true }
        return origin.lowercased() == "http://" + (request.head.authority ?? "").lowercased()
    }

    /// Whether a request may change anything: it must come from the page itself, with its token.
    func mayAct(_ request: Request) -> Bool {
        guard isOfOwnPage(request), request.headers[.origin] != nil, let sent = Self.tokenHeader.flatMap({ request.headers[$0] }) else {
            return false
        }
        // Compares digests, so that the time does not reveal how much of the token is correct.
        let isOurs = SHA256.hash(data: Data(sent.utf8)) == SHA256.hash(data: Data(token.utf8))
        return isOurs && request.headers[.contentType] == "application/json"
    }

    private static let tokenHeader = HTTPField.Name("X-Countersign-Token")
    private static let fetchSite = HTTPField.Name("Sec-Fetch-Site")

    /// The headers of every response. They forbid foreign resources, inline scripts, framing, caching and content sniffing.
    static let headers: HTTPFields = {
        var headers: HTTPFields = [.cacheControl: "no-store", .xContentTypeOptions: "nosniff"]
        let others = [
            "Content-Security-Policy":
                "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
            "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
            "X-Frame-Options": "DENY",
        ]
        for (name, value) in others {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
        return headers
    }()
}
