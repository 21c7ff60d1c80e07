internal import AuthFoundation
internal import Foundation

/// The rules for the response to a request at the loopback address, without sockets or state. Any program and any web page on this machine
/// can send requests to this address. A request is accepted only if all of these are true:
/// - It is a GET request for the redirect path, as a redirected browser sends it.
/// - Its `Host` header names this address, which a page that uses DNS rebinding cannot do.
/// - It contains the `state` of the sign-in.
struct CallbackRules: Sendable {
    /// The decision about a request.
    enum Verdict: Equatable, Sendable {
        /// The request is not complete yet.
        case incomplete
        /// The request is rejected with an error page.
        case refused(CallbackPage)
        /// The request is the expected redirect.
        case answer(URL)
        /// The browser is redirected to the server's page.
        case hop(URL)
    }

    /// The maximum size of a request head in bytes. It is large because browsers send all cookies that other programs set for this host.
    static let maximumSize = 65_536

    /// The expected value of the `Host` header: host and port.
    let authority: String
    /// The percent-encoded path of the redirect URI.
    let path: String
    /// Returns whether a URL is the expected redirect.
    let isAnswer: @Sendable (URL) -> Bool
    /// Returns the target of a one-time path and removes it, or returns `nil` if the path has none.
    var takeHop: @Sendable (_ path: String) -> URL? = { _ in nil }

    /// Returns the decision about the bytes received so far.
    func verdict(on bytes: [UInt8]) -> Verdict {
        guard let end = Self.endOfHead(in: bytes) else {
            return bytes.count > Self.maximumSize ? .refused(.tooLarge) : .incomplete
        }
        guard end <= Self.maximumSize else { return .refused(.tooLarge) }
        let head = bytes[..<end]
        // Allow no control characters except line ends and tabs. The request line must be ASCII, but cookies of other programs can contain
        // other bytes.
        guard head.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 || $0 == 0x0D || $0 == 0x0A }),
            head.prefix(while: { $0 != 0x0D }).allSatisfy({ $0 < 0x80 })
        else { return .refused(.malformed) }
        // Map each byte to one scalar, so that lines and names end exactly at the byte boundaries.
        var text = String.UnicodeScalarView()
        text.append(contentsOf: head.map { Unicode.Scalar($0) })
        var lines = String(text).components(separatedBy: "\r\n")
        guard lines.allSatisfy({ !$0.contains("\r") && !$0.contains("\n") }) else { return .refused(.malformed) }
        let request = lines.removeFirst().split(separator: " ", omittingEmptySubsequences: false)
        guard request.count == 3, request[2] == "HTTP/1.1", request[1].hasPrefix("/") else { return .refused(.malformed) }
        guard hosts(in: lines) == [authority] else { return .refused(.misdirected) }
        if request[0] == "GET", let page = takeHop(String(request[1])) { return .hop(page) }
        guard request[1].prefix(while: { $0 != "?" }) == path else { return .refused(.notFound) }
        guard request[0] == "GET" else { return .refused(.notAllowed) }
        guard !request[1].contains("#"), let url = URL(string: "http://\(authority)\(request[1])") else { return .refused(.malformed) }
        return isAnswer(url) ? .answer(url) : .refused(.unexpected)
    }

    /// Returns the values of the `Host` fields, or `nil` if a line is not a header field.
    private func hosts(in lines: [String]) -> [String]? {
        var hosts: [String] = []
        for line in lines {
            guard let colon = line.firstIndex(of: ":"), colon != line.startIndex,
                !line[..<colon].contains(where: { $0 == " " || $0 == "\t" })
            else { return nil }
            guard line[..<colon].lowercased() == "host" else { continue }
            hosts.append(line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces).lowercased())
        }
        return hosts
    }

    private static func endOfHead(in bytes: [UInt8]) -> Int? {
        guard bytes.count >= 4 else { return nil }
        return (0...(bytes.count - 4)).first {
            bytes[$0] == 0x0D && bytes[$0 + 1] == 0x0A && bytes[$0 + 2] == 0x0D && bytes[$0 + 3] == 0x0A
        }
    }
}

/// A redirect URI with a loopback address (RFC 8252 §7.3).
struct LoopbackRedirect: Sendable, Equatable {
    /// The host as the URI spells it: `127.0.0.1`, `[::1]` or `localhost`.
    let host: String
    /// The port of the URI, or `nil` for any free port.
    let port: UInt16?
    let path: String

    /// Reads a redirect URI.
    /// - Throws: ``BrowserSigninError/invalidRedirectScheme(_:)`` if the URI is not `http` with a loopback host, or has a user, a query, a
    ///   fragment or an invalid port.
    init(_ url: URL) throws {
        guard url.scheme?.lowercased() == "http", let host = url.host()?.lowercased(), url.user() == nil, url.query() == nil,
            url.fragment() == nil
        else { throw BrowserSigninError.invalidRedirectScheme(url.scheme) }
        switch host {
        case "127.0.0.1", "localhost": self.host = host
        case "::1", "[::1]": self.host = "[::1]"
        default: throw BrowserSigninError.invalidRedirectScheme(url.scheme)
        }
        guard let port = url.port else {
            self.port = nil
            path = url.path().isEmpty ? "/" : url.path()
            return
        }
        guard let exact = UInt16(exactly: port), exact > 0 else { throw BrowserSigninError.invalidRedirectScheme(url.scheme) }
        self.port = exact
        path = url.path().isEmpty ? "/" : url.path()
    }

    static func isOne(_ url: URL) -> Bool {
        (try? LoopbackRedirect(url)) != nil
    }

    /// Whether to listen on both addresses. Browsers resolve `localhost` to both addresses and try `::1` first.
    var isBothAddresses: Bool { host == "localhost" }

    var isIPv6: Bool { host == "[::1]" }
}
