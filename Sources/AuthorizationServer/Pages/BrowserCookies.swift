internal import HTTPTypes
internal import IdentityEngine

/// The two cookies of the pages (RFC 6265).
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

    /// What a request's cookies hold. Of two of one name, which only somebody who planted one sends, none counts.
    func read(_ request: ServerRequest) -> BrowserSecrets {
        var found: [Substring: Substring] = [:]
        var doubled: Set<Substring> = []
        for pair in (request.head.headerFields[.cookie] ?? "").split(separator: ";") {
            let pair = pair.drop { $0 == " " }
            guard let equals = pair.firstIndex(of: "=") else { continue }
            let name = pair[..<equals]
            guard name == browserName || name == sessionName else { continue }
            if found.updateValue(pair[pair.index(after: equals)...], forKey: name) != nil { doubled.insert(name) }
        }
        func value(_ name: String) -> String? { doubled.contains(name[...]) ? nil : found[name[...]].map(String.init) }
        return BrowserSecrets(browser: value(browserName), session: value(sessionName))
    }

    /// Gives a browser its new secrets; it keeps them until it is closed.
    func write(_ secrets: BrowserSecrets, to response: inout ServerResponse) {
        for (name, value) in [(browserName, secrets.browser), (sessionName, secrets.session)] {
            guard let value else { continue }
            response.headers.append(
                HTTPField(name: .setCookie, value: "\(name)=\(value); Path=/; HttpOnly; SameSite=Lax" + (isSecure ? "; Secure" : "")))
        }
    }

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

    /// Takes the secret of a session that is over from a browser.
    func endSession(in response: inout ServerResponse) {
        response.headers.append(
            HTTPField(
                name: .setCookie, value: "\(sessionName)=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax" + (isSecure ? "; Secure" : "")))
    }
}
