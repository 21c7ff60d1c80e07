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
    /// The number of different labels of related origins that every browser reads (WebAuthn Level 3 section 5.11.1).
    private static let mostLabels = 5

    let client: OAuth2Client
    /// The RP ID that the app expects; `nil` for the server's.
    var expectedID: String?

    /// Returns the findings; none if the organization does not offer passkeys and the app expects none.
    func run() async -> [Finding] {
        let issuer = PasskeyOrigin(client.configuration.issuerURL)
        let isOffered = (try? await WellKnownFile(at: issuer.text, "passkey-endpoints"))?.status == 200
        guard isOffered || expectedID != nil else { return [] }
        guard isOffered else {
            return [
                .wrong(
                    "Passkeys",
                    "The server does not say that it offers passkeys: \(issuer.text)/.well-known/passkey-endpoints is missing. Add the section passkeys to the org file."
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
        // A file of another server is fetched only if that server's domain contains the issuer, because a response can name any host.
        let host = issuer.host == id || issuer.defaultID == id ? issuer.text : "https://" + id
        return [finding] + [await appleApps(at: host), await relatedOrigins(at: host)].compactMap(\.self)
    }

    /// Returns the RP ID in the server's challenge for a user who cannot exist; `nil` if the client may not sign in with a passkey.
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
        case .address: text = "The RP ID \(id) is an address. Browsers accept a domain only."
        case .notDomain: text = "The RP ID \(id) is not a domain in lowercase ASCII letters."
        case .origin:
            return (
                .wrong(
                    "Passkeys",
                    "Browsers accept passkeys over https only, or at localhost. Serve \(issuer.text) over https, and change the origin in the org file."
                ), false
            )
        }
        let advice = "Set rp_id in the org file's section passkeys to \(issuer.host) or a parent domain."
        return (.wrong("Passkeys", "\(text) \(advice) Passkeys of another RP ID become unusable."), false)
    }

    // MARK: Apple

    /// Checks the file that lets apps on Apple's systems use the passkeys; `nil` if this machine's server has none.
    private func appleApps(at host: String) async -> Finding? {
        let name = "Apple apps"
        let path = "apple-app-site-association"
        let file: WellKnownFile
        do { file = try await WellKnownFile(at: host, path) } catch {
            return .wrong(name, "\(host)/.well-known/\(path) can't be read: \(Outcome.explain(error))")
        }
        if file.status == 404 {
            if LoopbackRule.isLoopback(URL(string: host)?.host() ?? "") { return nil }
            return .right(name, "none uses the passkeys of \(host). To let one use them, name it in apple_app_ids of its application.")
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
                "\(file.address) names \(wrong.stringValue ?? "an entry that is no string"). Write the team's ten characters and the bundle id: ABCDE12345.com.example.app."
            )
        }
        let words = apps.compactMap(\.stringValue).joined(separator: ", ")
        return .right(name, "\(words) may use the passkeys. Apple's systems read the file from Apple's copy, which can be a day old.")
    }

    // MARK: Related origins

    /// Checks the list of further origins; `nil` if there is none.
    private func relatedOrigins(at host: String) async -> Finding? {
        let name = "Related origins"
        let file: WellKnownFile
        do { file = try await WellKnownFile(at: host, "webauthn") } catch {
            return .wrong(name, "\(host)/.well-known/webauthn can't be read: \(Outcome.explain(error))")
        }
        guard file.status != 404 else { return nil }
        if let problem = file.problem { return .wrong(name, "\(problem) Browsers then use no related origin.") }
        guard let origins = file.json?["origins"]?.arrayValue?.map(\.stringValue) else {
            return .wrong(name, "\(file.address) has no list origins. Write {\"origins\": [\"https://www.example.com\"]}.")
        }
        if let wrong = origins.first(where: { $0.flatMap(PasskeyOrigin.init(related:)) == nil }) {
            return .wrong(
                name,
                "\(file.address) names \(wrong ?? "an entry that is no string"). Write an origin: https, the host and no path, such as https://www.example.com."
            )
        }
        let labels = Set(origins.compactMap { $0.flatMap(PasskeyOrigin.init(related:))?.label })
        guard labels.count <= Self.mostLabels else {
            return .warning(
                name,
                "\(file.address) names \(labels.count) different labels: \(labels.sorted().joined(separator: ", ")). Browsers need to read only \(Self.mostLabels), so sites at the end of the list may not work. Remove origins, or put the important ones first."
            )
        }
        return .right(name, "\(origins.count) with \(labels.count) of at most \(Self.mostLabels) labels that browsers read")
    }
}

/// A web origin, as passkeys compare it.
struct PasskeyOrigin {
    /// The serialized origin, without a default port.
    let text: String
    let host: String

    /// The origin of a URL.
    init(_ url: URL) {
        let scheme = url.scheme?.lowercased() ?? "https"
        host = url.host()?.lowercased() ?? ""
        let port = url.port.flatMap { $0 == (scheme == "https" ? 443 : 80) ? nil : ":\($0)" } ?? ""
        text = "\(scheme)://\(host.contains(":") ? "[\(host)]" : host)\(port)"
    }

    /// A related origin; `nil` for text that is none.
    init?(related text: String) {
        guard let url = URL(string: text), url.scheme?.lowercased() == "https", url.host()?.isEmpty == false, url.path().isEmpty,
            url.query() == nil, url.fragment() == nil, url.user() == nil
        else { return nil }
        self.init(url)
    }

    var isLoopbackAddress: Bool { LoopbackRule.isLoopback(host) && host != "localhost" && !host.hasSuffix(".localhost") }

    /// The RP ID that the server uses if the org file names none.
    var defaultID: String { isLoopbackAddress ? "localhost" : host }

    /// Whether browsers let a page of this origin use passkeys of an RP ID. At a loopback address, apps can use those of `localhost`.
    func canUse(_ relyingPartyID: String) -> Bool {
        RelyingPartyID.problem(relyingPartyID, at: text) == nil || isLoopbackAddress && relyingPartyID == defaultID
    }

    /// The label before the public suffix. Without a list of public suffixes, `co.uk` and the like are recognized by their form.
    var label: String {
        let labels = host.split(separator: ".")
        guard labels.count > 1 else { return host }
        let isTwoPart = labels.count > 2 && labels[labels.count - 1].count == 2 && labels[labels.count - 2].count <= 3
        return String(labels[labels.count - (isTwoPart ? 3 : 2)])
    }
}

/// A file below `/.well-known`, fetched as browsers and Apple's systems do: without following a redirect.
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

    /// The fault of the response itself, with the advice; `nil` for a JSON document.
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
