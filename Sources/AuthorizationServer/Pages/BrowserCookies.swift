internal import HTTPTypes
internal import IdentityEngine

/// The cookies of the pages (RFC 6265).
///
/// Over TLS their names begin with `__Host-`, so that no other host and no plain connection can set them. They are for this host and
/// all of it, for no script, and not sent with requests that other sites begin, except by following a link. Without TLS, which is for
/// loopback only, they go without what needs it.
struct BrowserCookies: Sendable {
    /// Whether browsers come over TLS.
    let isSecure: Bool

    init(isSecure: Bool) { self.isSecure = isSecure }

    var browserName: String { isSecure ? "__Host-browser" : "browser" }
    var sessionName: String { isSecure ? "__Host-session" : "session" }
    private var deviceName: String { isSecure ? "__Host-device" : "device" }
    private var linkName: String { isSecure ? "__Host-link" : "link" }

    /// What a request's cookies hold. Of two of one name, which only somebody who planted one sends, none counts.
    func read(_ request: ServerRequest) -> BrowserSecrets {
        let found = values([browserName, sessionName], of: request)
        return BrowserSecrets(browser: found[browserName[...]], session: found[sessionName[...]])
    }

    private func values(_ names: [String], of request: ServerRequest) -> [Substring: String] {
        var found: [Substring: Substring] = [:]
        var doubled: Set<Substring> = []
        for pair in (request.head.headerFields[.cookie] ?? "").split(separator: ";") {
            let pair = pair.drop { $0 == " " }
            guard let equals = pair.firstIndex(of: "=") else { continue }
            let name = pair[..<equals]
            guard names.contains(String(name)) else { continue }
            if found.updateValue(pair[pair.index(after: equals)...], forKey: name) != nil { doubled.insert(name) }
        }
        return found.filter { !doubled.contains($0.key) }.mapValues(String.init)
    }

    /// Gives a browser its new secrets. It keeps them until it is closed, and the one of its device for a year.
    func write(_ secrets: BrowserSecrets, to response: inout ServerResponse) {
        if let device = secrets.device {
            response.headers.append(
                HTTPField(
                    name: .setCookie,
                    value: "\(deviceName)=\(device); Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax" + (isSecure ? "; Secure" : "")))
        }
        for (name, value) in [(browserName, secrets.browser), (sessionName, secrets.session)] {
            guard let value else { continue }
            response.headers.append(
                HTTPField(name: .setCookie, value: "\(name)=\(value); Path=/; HttpOnly; SameSite=Lax" + (isSecure ? "; Secure" : "")))
        }
    }

    /// The secret by which the pages know a browser's device again; `nil` if it brings none.
    func device(of request: ServerRequest) -> String? { values([deviceName], of: request)[deviceName[...]] }

    /// Gives a browser the token by which its device is known again. Official clients know the cookie by this name.
    func writeDevice(_ token: String, to response: inout ServerResponse) {
        response.headers.append(
            HTTPField(
                name: .setCookie,
                value: "\(DeviceCookie.name)=\(token); Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax" + (isSecure ? "; Secure" : "")))
    }

    /// Has a browser keep which push factors its client asks by itself; none takes that from it.
    func writeAutoPush(_ factors: [String], to response: inout ServerResponse) {
        let age = factors.isEmpty ? 0 : 31_536_000
        response.headers.append(
            HTTPField(
                name: .setCookie,
                value: "\(AutoPushCookie.name)=\(factors.joined(separator: ".")); Path=/; Max-Age=\(age); HttpOnly; SameSite=Lax"
                    + (isSecure ? "; Secure" : "")))
    }

    /// Keeps the secret of a mail's link for the page that asks whether to take it.
    func writeLink(_ token: String, to response: inout ServerResponse) {
        guard token.utf8.allSatisfy(Self.isPlain) else { return }
        response.headers.append(
            HTTPField(
                name: .setCookie,
                value: "\(linkName)=\(token); Path=/; Max-Age=600; HttpOnly; SameSite=Lax" + (isSecure ? "; Secure" : "")))
    }

    /// The secret of a mail's link; nil if there is none.
    func link(of request: ServerRequest) -> String? { values([linkName], of: request)[linkName[...]] }

    /// Takes it from the browser.
    func endLink(in response: inout ServerResponse) {
        response.headers.append(
            HTTPField(
                name: .setCookie, value: "\(linkName)=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax" + (isSecure ? "; Secure" : "")))
    }

    /// Whether a byte can stand in a cookie, as those of secrets all can.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    /// Takes the secret of a session that is over from a browser.
    func endSession(in response: inout ServerResponse) {
        response.headers.append(
            HTTPField(
                name: .setCookie, value: "\(sessionName)=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax" + (isSecure ? "; Secure" : "")))
    }
}
