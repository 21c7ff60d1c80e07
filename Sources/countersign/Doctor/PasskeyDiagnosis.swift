import AuthFoundation
import Foundation
import JOSE
import OktaDirectAuth
import WebAuthn

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Checks what browsers and Apple's systems require of an organization that offers passkeys.
struct PasskeyDiagnosis {
    /// The number of different labels in the related origins that every browser supports (WebAuthn Level 3 section 5.11.1). A label is the
    /// name before the public suffix: `example` in `www.example.co.uk`.
    private static let mostLabels = 5

    let client: OAuth2Client
    /// The RP ID that the app expects; `nil` to accept the RP ID of the server.
    var expectedID: String?

    /// Returns the findings; none if the organization does not offer passkeys and the app expects no RP ID.
    func run() async -> [Finding] {
        let issuer = PasskeyOrigin(client.configuration.issuerURL)
        let isOffered = (try? await WellKnownFile(at: issuer.text, "passkey-endpoints"))?.status == 200
        guard isOffered || expectedID != nil else { return [] }
        guard isOffered else {
            return [
                .wrong(
                    "Passkeys",
                    "The server does not announce passkeys: \(issuer.text)/.well-known/passkey-endpoints is missing. Add the section passkeys to the org file."
                )
            ]
        }
        let stated = await statedID()
        let id = stated ?? expectedID ?? issuer.defaultID
        if let expectedID, expectedID != id {
            return [
                .wrong(
                    "Passkeys",
                    "The server's RP ID is \(id), and not \(expectedID). Set rp_id in the org file's section passkeys, or name \(id) in the app and its entitlement."
                )
            ]
        }
        let (finding, isUsable) = relation(of: id, to: issuer)
        guard isUsable else { return [finding] }
        // The RP ID comes from a response, which can name any host. The check above ensures that another host's domain contains the issuer.
        let host = issuer.host == id || issuer.defaultID == id ? issuer.text : "https://" + id
        return [finding] + [await appleApps(at: host), await relatedOrigins(at: host)].compactMap(\.self)
    }

    /// Starts a sign-in of a user who cannot exist, and returns the RP ID in the server's challenge; `nil` if the client may not sign in
    /// with a passkey.
    private func statedID() async -> String? {
        let flow = DirectAuthenticationFlow(client: client)
        let status = try? await flow.start(TrialSignIn.decoyName, with: .webAuthn)
        await flow.reset()
        guard case .continuation(.webAuthn(let context)) = status else { return nil }
        return context.request.publicKey.rpID
    }

    /// Returns the finding about an RP ID at the issuer's origin, and whether the RP ID can be used.
    private func relation(of id: String, to issuer: PasskeyOrigin) -> (Finding, isUsable: Bool) {
        if issuer.isLoopbackAddress, id == issuer.defaultID {
            return (
                .warning(
                    "Passkeys",
                    "Apps can use the RP ID localhost, but browsers refuse passkeys at the address \(issuer.host). For passkeys on the pages, give the organization an origin with the host localhost."
                ), true
            )
        }
        let text: String
        switch RelyingPartyID.problem(id, at: issuer.text) {
        case nil: return (.right("Passkeys", "the RP ID is \(id), and browsers accept it at \(issuer.text)"), true)
        case .otherDomain:
            text = "The RP ID \(id) is neither the host of \(issuer.text) nor a parent domain of it, so browsers refuse the passkeys."
        case .topLevelDomain: text = "The RP ID \(id) is a top-level domain, which browsers refuse."
        case .address: text = "The RP ID \(id) is an IP address. Browsers accept only a domain."
        case .notDomain: text = "The RP ID \(id) is not a domain in lower case and ASCII."
        case .origin:
            return (
                .wrong(
                    "Passkeys",
                    "Browsers accept passkeys over https only, or at localhost. Serve \(issuer.text) over https, and change the origin in the org file."
                ), false
            )
        }
        let advice = "Set rp_id in the org file's section passkeys to \(issuer.host) or a parent domain."
        return (.wrong("Passkeys", "\(text) \(advice) Passkeys of the previous RP ID become unusable."), false)
    }

    // MARK: Apple

    /// Checks the file that lets apps on Apple's systems use the passkeys; `nil` if a server on this machine has no such file.
    private func appleApps(at host: String) async -> Finding? {
        let name = "Apple apps"
        let path = "apple-app-site-association"
        let file: WellKnownFile
        do { file = try await WellKnownFile(at: host, path) } catch {
            return .wrong(name, "\(host)/.well-known/\(path) can't be read: \(Outcome.explain(error))")
        }
        if file.status == 404 {
            if LoopbackRule.isLoopback(URL(string: host)?.host() ?? "") { return nil }
            return .right(name, "no app can use the passkeys of \(host). To permit an app, add its id to apple_app_ids of its application.")
        }
        if let problem = file.problem { return .wrong(name, "\(problem) Apple's systems then ignore it.") }
        guard let apps = file.json?["webcredentials"]?["apps"]?.arrayValue, !apps.isEmpty else {
            return .wrong(
                name, "\(file.address) has no list webcredentials.apps, so a passkey request in an app fails with error 1004. Add the list."
            )
        }
        if let wrong = apps.first(where: { $0.stringValue?.wholeMatch(of: /[A-Z0-9]{10}(\.[A-Za-z0-9-]+)+/) == nil }) {
            return .wrong(
                name,
                "\(file.address) lists \(wrong.stringValue ?? "an entry that is not a string"), which is not an app id. Write the team's ten characters and the bundle id: ABCDE12345.com.example.app."
            )
        }
        let words = apps.compactMap(\.stringValue).joined(separator: ", ")
        return .right(name, "\(words) may use the passkeys. Apple's systems read Apple's copy of the file, which can be a day old.")
    }

    // MARK: Related origins

    /// Checks the list of related origins; `nil` if the server has no list.
    private func relatedOrigins(at host: String) async -> Finding? {
        let name = "Related origins"
        let file: WellKnownFile
        do { file = try await WellKnownFile(at: host, "webauthn") } catch {
            return .wrong(name, "\(host)/.well-known/webauthn can't be read: \(Outcome.explain(error))")
        }
        guard file.status != 404 else { return nil }
        if let problem = file.problem { return .wrong(name, "\(problem) Browsers then ignore all related origins.") }
        guard let origins = file.json?["origins"]?.arrayValue?.map(\.stringValue) else {
            return .wrong(name, "\(file.address) has no list origins. Write {\"origins\": [\"https://www.example.com\"]}.")
        }
        if let wrong = origins.first(where: { $0.flatMap(PasskeyOrigin.init(related:)) == nil }) {
            return .wrong(
                name,
                "\(file.address) names \(wrong ?? "an entry that is not a string"). Write an origin: https, the host and no path, such as https://www.example.com."
            )
        }
        let labels = Set(origins.compactMap { $0.flatMap(PasskeyOrigin.init(related:))?.label })
        guard labels.count <= Self.mostLabels else {
            return .warning(
                name,
                "\(file.address) names \(labels.count) different labels: \(labels.sorted().joined(separator: ", ")). A label is the name before the public suffix. Browsers must support only \(Self.mostLabels), so sites at the end of the list may not work. Remove origins, or put the important ones first."
            )
        }
        return .right(name, "\(origins.count) with \(labels.count) of at most \(Self.mostLabels) labels that every browser supports")
    }
}

/// A web origin, normalized so that two origins can be compared as text.
struct PasskeyOrigin {
    /// The serialized origin, without a default port.
    let text: String
    let host: String

    /// Creates the origin of a URL.
    init(_ url: URL) {
        let scheme = url.scheme?.lowercased() ?? "https"
        host = url.host()?.lowercased() ?? ""
        let port = url.port.flatMap { $0 == (scheme == "https" ? 443 : 80) ? nil : ":\($0)" } ?? ""
        text = "\(scheme)://\(host.contains(":") ? "[\(host)]" : host)\(port)"
    }

    /// Creates an origin from an entry of the related origins; `nil` if the text is not an https origin.
    init?(related text: String) {
        guard let url = URL(string: text), url.scheme?.lowercased() == "https", url.host()?.isEmpty == false, url.path().isEmpty,
            url.query() == nil, url.fragment() == nil, url.user() == nil
        else { return nil }
        self.init(url)
    }

    var isLoopbackAddress: Bool { LoopbackRule.isLoopback(host) && host != "localhost" && !host.hasSuffix(".localhost") }

    /// The RP ID that the server uses if the org file names none.
    var defaultID: String { isLoopbackAddress ? "localhost" : host }

    /// Whether passkeys of an RP ID can be used at this origin: by browsers or, at a loopback address with the RP ID `localhost`, by apps.
    func canUse(_ relyingPartyID: String) -> Bool {
        RelyingPartyID.problem(relyingPartyID, at: text) == nil || isLoopbackAddress && relyingPartyID == defaultID
    }

    /// The label before the public suffix. No list of public suffixes is used: suffixes such as `co.uk` are recognized by their form.
    var label: String {
        let labels = host.split(separator: ".")
        guard labels.count > 1 else { return host }
        let isTwoPart = labels.count > 2 && labels[labels.count - 1].count == 2 && labels[labels.count - 2].count <= 3
        return String(labels[labels.count - (isTwoPart ? 3 : 2)])
    }
}

/// A file below `/.well-known`, fetched in the same way as by browsers and Apple's systems: without following a redirect.
private struct WellKnownFile {
    private static let session = EphemeralSession(isBrowserless: true, keepsCookies: false, maximumResponseSize: 1 << 20)

    let address: String
    let status: Int
    private let contentType: String?
    let json: JSONValue?

    init(at origin: String, _ name: String) async throws {
        address = "\(origin)/.well-known/\(name)"
        guard let url = URL(string: address), LoopbackRule.isAcceptable(url) else { throw URLError(.badURL) }
        let (data, response) = try await Self.session.data(for: URLRequest(url: url, timeoutInterval: 10))
        guard let answer = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        (status, contentType) = (answer.statusCode, answer.mimeType?.lowercased())
        json = try? JSONValue(parsing: Array(data))
    }

    /// The problem of the response, with advice; `nil` if the response is a JSON document.
    var problem: String? {
        switch status {
        case 200: break
        case 300..<400: return "\(address) is a redirect, which is not followed. Serve the file at this address itself."
        default: return "\(address) has the status \(status) instead of 200. Serve the file at this address."
        }
        guard contentType == "application/json" else {
            return "\(address) has \(contentType.map { "the content type \($0)" } ?? "no content type"). Serve it as application/json."
        }
        return json == nil ? "\(address) is not JSON. Correct the file." : nil
    }
}
