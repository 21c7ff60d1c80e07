import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The redirects that a client follows.
enum RedirectRule {
    /// The client always follows redirects within the origin. It follows others only without credentials, never from https to http, and to
    /// plain http only on this machine. With `staysOnHost` it never leaves the host: another host could replace the discovery document.
    static func follows(_ next: URLRequest, from original: URLRequest?, staysOnHost: Bool = false) -> Bool {
        guard let from = original?.url, let to = next.url else { return false }
        if origin(of: from) == origin(of: to) { return true }
        guard !staysOnHost || from.host()?.lowercased() == to.host()?.lowercased(), LoopbackRule.isAcceptable(to),
            to.scheme?.lowercased() == "https" || from.scheme?.lowercased() != "https"
        else { return false }
        let carriesCredentials =
            original?.value(forHTTPHeaderField: "Authorization") != nil || original?.httpBody != nil || original?.httpMethod != "GET"
        return !carriesCredentials
    }

    private static func origin(of url: URL) -> String {
        let scheme = url.scheme?.lowercased() ?? ""
        return "\(scheme)://\(url.host()?.lowercased() ?? ""):\(url.port ?? (scheme == "https" ? 443 : 80))"
    }
}
