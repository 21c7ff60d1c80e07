internal import AuthorizationServer
internal import Foundation
internal import HTTPTypes

/// Allows requests to the control API and the front page from programs on this machine and from the sandbox's own pages only.
///
/// Any web page in the developer's browser can send requests to this machine. The check of `Origin` stops scripts of other pages. The check
/// of `Host` stops pages whose host name resolves to this machine (DNS rebinding).
struct ControlAccess: Sendable {
    /// The origin of the sandbox; `nil` before it listens.
    let origin: @Sendable () -> URL?

    /// Returns the reason to refuse a request; `nil` if it is allowed.
    func refusal(of request: ServerRequest) -> String? {
        guard let authority = request.head.authority, let scheme = scheme(at: authority) else {
            return "The control API answers at its own host and port only."
        }
        if let origin = request.head.headerFields[.origin], origin.lowercased() != "\(scheme)://\(authority)".lowercased() {
            return "Pages of other origins can't use the control API."
        }
        return nil
    }

    private static let loopbackNames: Set<String> = ["localhost", "127.0.0.1", "::1", "[::1]"]

    /// Returns the scheme of this sandbox.
    ///
    /// - Parameter authority: The `Host` of a request.
    /// - Returns: `nil` unless it is this sandbox's: a loopback name, or the one it was given, and the port it listens on.
    private func scheme(at authority: String) -> String? {
        guard let origin = origin(), let scheme = origin.scheme,
            let url = URL(string: "\(scheme)://\(authority)"), url.user == nil, url.path.isEmpty, url.query == nil,
            let host = url.host()?.lowercased(), host == origin.host() || Self.loopbackNames.contains(host)
        else { return nil }
        let standard = scheme == "https" ? 443 : 80
        return (url.port ?? standard) == (origin.port ?? standard) ? scheme : nil
    }
}
