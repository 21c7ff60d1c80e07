internal import Crypto
internal import HTTPTypes
package import IdentityCore
internal import JOSE

/// The cookies of the hosted pages (RFC 6265): `HttpOnly`, `SameSite=Lax`, and for all paths of this host. Over TLS they are also `Secure`,
/// and their names start with `__Host-`, so that no other host and no plain connection can set them. Without TLS, which is for loopback
/// only, the cookies have neither `Secure` nor the prefix.
package struct BrowserCookies: Sendable {
    /// The maximum number of sign-in cookies in a browser. Further sign-ins remove the oldest cookies first.
    static let mostSignIns = 8
    /// The maximum number of cookies for mailed links in a browser.
    static let mostLinks = 4

    /// The cookie that official clients use for the device token.
    package static let deviceTokenName = "DT"
    /// The cookie with the push factors for which the client sends pushes automatically.
    package static let autoPushName = "autopush"

    let isSecure: Bool

    package init(isSecure: Bool) { self.isSecure = isSecure }

    private var prefix: String { isSecure ? "__Host-" : "" }
    var browserName: String { prefix + "browser" }
    var sessionName: String { prefix + "session" }
    private var deviceName: String { prefix + "device" }
    private var signInPrefix: String { prefix + "signin-" }
    private var linkPrefix: String { prefix + "link-" }

    /// Derives a handle from a secret, for URLs and cookie names. The handle does not reveal the secret.
    package static func handle(of secret: String) -> String {
        String(Base64URL.encode(Array(SHA256.hash(data: Array(secret.utf8)).prefix(12))))
    }

    /// Reads the secrets in a request's cookies; missing secrets are `nil`. If a name occurs twice, both values are ignored, because an
    /// attacker may have planted one. `token` is the state token of the sign-in or recovery whose page is requested.
    package func read(_ request: ServerRequest, signIn token: String? = nil) -> BrowserSecrets {
        let signInName = token.map { signInPrefix + Self.handle(of: $0) }
        let found = Self.values([browserName, sessionName] + (signInName.map { [$0] } ?? []), of: request)
        return BrowserSecrets(
            browser: found[browserName[...]], session: found[sessionName[...]], signIn: signInName.flatMap { found[$0[...]] })
    }

    /// Sets the cookies of a browser's new secrets; a `nil` secret leaves its cookie unchanged. ``BrowserSecrets/signIn`` belongs to the
    /// sign-in or recovery with the state token `token`. The device cookie lasts a year, and a sign-in cookie as long as the sign-in. The
    /// others are session cookies.
    package func write(_ secrets: BrowserSecrets, signIn token: String? = nil, of request: ServerRequest, to response: inout ServerResponse)
    {
        if let secret = secrets.browser { set(browserName, secret, in: &response) }
        if let secret = secrets.signIn, let token {
            let name = signInPrefix + Self.handle(of: token)
            removeOldest(signInPrefix, but: name, most: Self.mostSignIns, of: request, in: &response)
            set(name, secret, age: BrowserSecrets.signInLifetime, in: &response)
        }
        if let secret = secrets.device { set(deviceName, secret, age: 31_536_000, in: &response) }
        if let secret = secrets.session { set(sessionName, secret, in: &response) }
    }

    /// Removes the session cookie.
    package func endSession(in response: inout ServerResponse) { set(sessionName, "", age: 0, in: &response) }

    /// Returns the secret that identifies the browser's device; `nil` if the request has none.
    package func device(of request: ServerRequest) -> String? { Self.values([deviceName], of: request)[deviceName[...]] }

    /// Sets the device token cookie of official clients.
    package func writeDevice(_ token: String, to response: inout ServerResponse) {
        set(Self.deviceTokenName, token, age: 31_536_000, in: &response)
    }

    /// Sets the cookie with the automatic push factors; an empty list removes it.
    package func writeAutoPush(_ factors: [String], to response: inout ServerResponse) {
        set(Self.autoPushName, factors.joined(separator: "."), age: factors.isEmpty ? 0 : 31_536_000, in: &response)
    }

    /// Stores the secret of a mailed link for its confirmation page. Each link has its own cookie, so a link that another site opens in the
    /// browser does not affect the page of another link.
    package func writeLink(_ token: String, of request: ServerRequest, to response: inout ServerResponse) {
        // Only a top-level navigation sets this cookie, not an image, a frame or a script of another page.
        let isOpened = request.head.headerFields[.fetchDestination].map { $0 == "document" } ?? true
        guard isOpened, token.utf8.allSatisfy(Self.isPlain) else { return }
        let name = linkPrefix + Self.handle(of: token)
        removeOldest(linkPrefix, but: name, most: Self.mostLinks, of: request, in: &response)
        set(name, token, age: 600, in: &response)
    }

    /// Returns the secret of the mailed link whose handle is in the page's URL; `nil` if there is none.
    package func link(_ handle: String, of request: ServerRequest) -> String? {
        let name = linkPrefix + handle
        return Self.values([name], of: request)[name[...]].flatMap { Self.handle(of: $0) == handle ? $0 : nil }
    }

    /// Removes the cookie of a mailed link.
    package func endLink(_ handle: String, in response: inout ServerResponse) { set(linkPrefix + handle, "", age: 0, in: &response) }

    private func set(_ name: String, _ value: String, age: Int? = nil, in response: inout ServerResponse) {
        let age = age.map { "; Max-Age=\($0)" } ?? ""
        response.headers.append(
            HTTPField(
                name: .setCookie, value: "\(name)=\(value); Path=/\(age); HttpOnly; SameSite=Lax" + (isSecure ? "; Secure" : "")))
    }

    /// Removes the oldest cookies with a prefix to make room for a new one. Browsers send cookies in the order of their creation (RFC 6265
    /// section 5.4).
    private func removeOldest(
        _ prefix: String, but name: String, most: Int, of request: ServerRequest, in response: inout ServerResponse
    ) {
        let others = Self.pairs(of: request).map(\.name).filter { $0.hasPrefix(prefix) && $0 != name }
        for other in others.prefix(max(0, others.count - most + 1)) where other.utf8.allSatisfy(Self.isPlain) {
            set(String(other), "", age: 0, in: &response)
        }
    }

    /// Returns the value of a cookie; `nil` if it is missing or empty, or if the name occurs twice.
    package static func value(of name: String, in request: ServerRequest) -> String? {
        values([name], of: request)[name[...]].flatMap { $0.isEmpty ? nil : $0 }
    }

    private static func values(_ names: [String], of request: ServerRequest) -> [Substring: String] {
        var found: [Substring: Substring] = [:]
        var doubled: Set<Substring> = []
        for (name, value) in pairs(of: request) where names.contains(String(name)) {
            if found.updateValue(value, forKey: name) != nil { doubled.insert(name) }
        }
        return found.filter { !doubled.contains($0.key) }.mapValues(String.init)
    }

    private static func pairs(of request: ServerRequest) -> [(name: Substring, value: Substring)] {
        (request.head.headerFields[.cookie] ?? "").split(separator: ";").compactMap { pair in
            let pair = pair.drop { $0 == " " }
            guard let equals = pair.firstIndex(of: "=") else { return nil }
            return (pair[..<equals], pair[pair.index(after: equals)...])
        }
    }

    /// Whether a byte is in the Base64url alphabet, as all bytes of secrets are.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
