internal import Foundation

/// A page that the browser shows at the loopback address. It contains nothing from the request.
enum CallbackPage: Equatable, Sendable, CaseIterable {
    /// The redirect was accepted.
    case taken
    /// The request is not the expected redirect.
    case unexpected
    /// The request is not valid HTTP.
    case malformed
    /// The request has another path.
    case notFound
    /// The request has a method other than GET.
    case notAllowed
    /// The request names another host.
    case misdirected
    /// The request has too many bytes.
    case tooLarge

    private var status: String {
        switch self {
        case .taken: "200 OK"
        case .unexpected, .malformed: "400 Bad Request"
        case .notFound: "404 Not Found"
        case .notAllowed: "405 Method Not Allowed"
        case .misdirected: "421 Misdirected Request"
        case .tooLarge: "431 Request Header Fields Too Large"
        }
    }

    private var title: String {
        switch self {
        case .taken: "You can close this window."
        case .unexpected: "This is not the answer that the app waits for."
        case .malformed, .notAllowed, .misdirected, .tooLarge: "This request can’t be answered here."
        case .notFound: "There is nothing here."
        }
    }

    private var text: String {
        switch self {
        case .taken: "The app has received the server’s response. Return to the app."
        case .unexpected: "It may belong to an earlier try. Go back to the app and begin again there."
        case .malformed, .notFound, .notAllowed, .misdirected, .tooLarge: "Go back to the app."
        }
    }

    /// Returns a redirect response that prevents a `Referer` header.
    static func redirect(to page: URL) -> [UInt8] {
        let head = [
            "HTTP/1.1 302 Found", "Location: \(page.absoluteString)", "Content-Length: 0", "Cache-Control: no-store",
            "Referrer-Policy: no-referrer", "Connection: close",
        ]
        return Array((head.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }

    static let style =
        "body{font:1.125rem/1.5 system-ui,sans-serif;margin:15vh auto;max-width:32rem;padding:0 1rem;text-align:center}h1{font-size:1.5rem}"

    /// The SHA-256 hash of ``style`` in base64, which the content security policy allows.
    static let styleHash = "ra05Wd3g2WoH+AsaMh8Eb5oVhiFPbZyyqdfKCnO6JhA="

    /// The complete response. Its headers forbid scripts, external resources, caching and the `Referer` header.
    var response: [UInt8] {
        let body = """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(title)</title>
            <style>\(Self.style)</style>
            </head>
            <body>
            <main>
            <h1>\(title)</h1>
            <p>\(text)</p>
            </main>
            </body>
            </html>

            """
        let policy = "default-src 'none'; style-src 'sha256-\(Self.styleHash)'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        var head = [
            "HTTP/1.1 \(status)", "Content-Type: text/html; charset=utf-8", "Content-Length: \(body.utf8.count)", "Cache-Control: no-store",
            "Content-Security-Policy: \(policy)", "Referrer-Policy: no-referrer", "X-Content-Type-Options: nosniff",
            "X-Frame-Options: DENY",
            "Cross-Origin-Resource-Policy: same-origin", "Connection: close",
        ]
        if self == .notAllowed { head.append("Allow: GET") }
        return Array((head.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
    }
}
