import AuthFoundation
import Foundation
import JOSE

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The checks of the doctor. Each check requires that the earlier checks could run.
struct Diagnosis {
    enum Settings {
        case file(URL)
        case values([String: String])

        var name: String {
            switch self {
            case .file(let url): url.lastPathComponent
            case .values: "the command line"
            }
        }

        func list() throws -> OAuth2Client.PropertyListConfiguration {
            switch self {
            case .file(let url): try OAuth2Client.PropertyListConfiguration(plist: url)
            case .values(let values): try OAuth2Client.PropertyListConfiguration(values)
            }
        }
    }

    let settings: Settings
    /// The user for a trial sign-in; `nil` for a trial with a user who cannot exist.
    var person: TrialSignIn.Person?
    /// The RP ID of passkeys that the app expects; `nil` for the server's.
    var relyingPartyID: String?

    func run() async -> [Finding] {
        var findings: [Finding] = []
        let list: OAuth2Client.PropertyListConfiguration
        do {
            list = try listAsWritten()
            findings.append(
                .right("Settings", "\(settings.name) is complete; client \(list.clientId) of \(list.issuerURL.absoluteString)"))
        } catch {
            return [.wrong("Settings", Outcome.explain(error))]
        }
        findings += scheme(of: list)
        let client: OAuth2Client
        let metadata: OpenIdConfiguration
        do {
            client = OAuth2Client(try OAuth2Client.Configuration(plist: list))
            metadata = try await client.openIdConfiguration()
        } catch {
            let document = list.discoveryURL ?? list.issuerURL.appending(path: ".well-known/openid-configuration")
            let finding = await ConnectionDiagnosis(url: document).finding(for: error)
            return findings + [
                finding
                    ?? .wrong(
                        "Discovery",
                        "\(document.absoluteString) can't be read: \(Outcome.explain(error)) Check the issuer's host and path, for instance /oauth2/default."
                    )
            ]
        }
        findings += discovery(metadata, list)
        findings += clock(of: client)
        findings += await keys(of: client)
        findings += await PasskeyDiagnosis(client: client, expectedID: relyingPartyID).run()
        // A client with a redirect URI may sign users in only by the browser. Then the trial does not require the password grant.
        var trial = TrialSignIn(client: client, person: person)
        if let redirectUri = client.configuration.redirectUri {
            let finding = await TrialNavigation(client: client, redirectUri: redirectUri).run()
            trial.hasBrowser = finding.result == .right
            findings.append(finding)
        }
        findings += await trial.run()
        return findings
    }

    /// Returns the settings with the issuer exactly as written. Apps ignore a trailing slash, but the doctor reports it.
    private func listAsWritten() throws -> OAuth2Client.PropertyListConfiguration {
        var list = try settings.list()
        if let written = writtenIssuer, written.contains("://"), written.hasSuffix("/"), let url = URL(string: written) {
            list.issuerURL = url
        }
        return list
    }

    private func scheme(of list: OAuth2Client.PropertyListConfiguration) -> [Finding] {
        var findings: [Finding] = []
        if let written = writtenIssuer, !written.contains("://") {
            findings.append(.warning("Scheme", "The issuer is written without a scheme; write https://\(written)."))
        } else if list.issuerURL.scheme == "http" {
            findings.append(.warning("Scheme", "The issuer is plain http, which works for this machine only."))
        } else {
            findings.append(.right("Scheme", "https"))
        }
        if !list.scope.contains("openid") {
            findings.append(
                .warning("Scopes", "Without the scope openid there is no ID token, so the client does not learn who signed in."))
        }
        if !list.scope.contains("offline_access") {
            findings.append(
                .warning("Scopes", "Without the scope offline_access there is no refresh token, so users sign in again every hour."))
        }
        return findings
    }

    private var writtenIssuer: String? {
        let list: [String: Any]
        switch settings {
        case .values(let values): list = values
        case .file(let file):
            // An unreadable file was reported earlier.
            guard let data = try? Data(contentsOf: file),
                let read = try? PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any]
            else { return nil }
            list = read
        }
        return ["issuer", "issuer_url", "issuerUrl", "IssuerUrl"].lazy.compactMap { list[$0] as? String }.first
    }

    private func discovery(_ metadata: OpenIdConfiguration, _ list: OAuth2Client.PropertyListConfiguration) -> [Finding] {
        let (named, configured) = (metadata.issuer.absoluteString, list.issuerURL.absoluteString)
        if named != configured, named == configured + "/" || configured == named + "/" {
            return [
                .warning(
                    "Discovery",
                    "The issuer's name is \(named), and the settings differ in the slash at the end. Write it as the issuer does.")
            ]
        }
        guard named == configured else {
            return [
                .warning(
                    "Discovery", "The document names another issuer: \(metadata.issuer.absoluteString). Tokens will contain that issuer.")
            ]
        }
        return [.right("Discovery", "the issuer answers")]
    }

    private func clock(of client: OAuth2Client) -> [Finding] {
        let offset = client.clockOffset ?? 0
        guard abs(offset) > 300 else { return [.right("Clock", "within \(Int(clamping: abs(offset))) seconds of the issuer's")] }
        let direction = offset > 0 ? "behind" : "ahead of"
        return [
            .wrong(
                "Clock",
                "This machine's clock is \(Int(clamping: abs(offset))) seconds \(direction) the issuer's. Correct it; otherwise tokens seem expired or not yet valid."
            )
        ]
    }

    private func keys(of client: OAuth2Client) async -> [Finding] {
        do {
            let keys = try await client.jwks()
            return keys.isEmpty
                ? [.wrong("Keys", "The issuer publishes no keys, so tokens cannot be verified.")]
                : [.right("Keys", "\(keys.count) published")]
        } catch {
            return [.wrong("Keys", "The key set can't be read: \(Outcome.explain(error))")]
        }
    }
}

/// Diagnoses why the issuer's server cannot be reached: the URL has the wrong scheme (http or https), or the server's certificate is not
/// trusted.
struct ConnectionDiagnosis {
    private enum Answer { case response, untrustedCertificate, nothing }

    let url: URL

    /// Returns the diagnosis; `nil` if the error has another cause.
    func finding(for error: any Error) async -> Finding? {
        let failure = Self.failure(in: error)
        switch url.scheme?.lowercased() {
        case "https":
            guard let failure else { return nil }
            if failure.isUntrustedCertificate {
                return .wrong("Certificate", "This machine does not trust the certificate of \(host). \(advice)")
            }
            guard await answer(by: "http") == .response else { return nil }
            return .wrong(
                "Scheme", "The server at \(host) speaks http and not https. Write the issuer with http://, or start the server with TLS.")
        case "http":
            switch await answer(by: "https") {
            case .response: return .wrong("Scheme", "The server at \(host) speaks https and not http. Write the issuer with https://.")
            case .untrustedCertificate:
                return .wrong(
                    "Scheme",
                    "The server at \(host) speaks https and not http. Write the issuer with https://. This machine does not trust its certificate yet. \(advice)"
                )
            case .nothing: return nil
            }
        default: return nil
        }
    }

    private var host: String { (url.host() ?? "the issuer") + (url.port.map { ":\($0)" } ?? "") }

    private var advice: String {
        "If it is a sandbox, run `countersign trust`; otherwise install the server's certificate authority, or use a certificate of a public one."
    }

    /// Returns the kind of the server's response to a request with another scheme.
    private func answer(by scheme: String) async -> Answer {
        guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return .nothing }
        parts.scheme = scheme
        guard let other = parts.url, LoopbackRule.isAcceptable(other) else { return .nothing }
        do {
            _ = try await EphemeralSession(isBrowserless: true).data(for: URLRequest(url: other, timeoutInterval: 5))
            return .response
        } catch {
            return Self.failure(in: error)?.isUntrustedCertificate == true ? .untrustedCertificate : .nothing
        }
    }

    private static func failure(in error: any Error) -> URLError? {
        switch error {
        case let error as URLError: error
        case APIClientError.httpError(let inner): failure(in: inner)
        default: nil
        }
    }
}

extension URLError {
    /// Whether the server's certificate was rejected. Foundation on Linux reports this only in the error text.
    fileprivate var isUntrustedCertificate: Bool {
        switch code {
        case .serverCertificateUntrusted, .serverCertificateHasUnknownRoot, .serverCertificateHasBadDate, .serverCertificateNotYetValid:
            true
        default: localizedDescription.lowercased().contains("certificate")
        }
    }
}
