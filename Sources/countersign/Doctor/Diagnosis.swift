import AuthFoundation
import Foundation
import JOSE

/// The checks of the doctor. Each one requires that the checks before it could run.
struct Diagnosis {
    /// The source of the settings.
    enum Settings {
        case file(URL)
        case values([String: String])

        var name: String {
            switch self {
            case .file(let url): url.lastPathComponent
            case .values: "what was given"
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
        // A client with a redirect URI may use browser sign-in only. Then the trial does not require the password grant.
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
            findings.append(.warning("Scopes", "Without the scope openid there is no id token, and nobody knows who signed in."))
        }
        if !list.scope.contains("offline_access") {
            findings.append(
                .warning("Scopes", "Without the scope offline_access there is no refresh token; people sign in again every hour."))
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
                .warning("Discovery", "The document names another issuer: \(metadata.issuer.absoluteString). Tokens will carry that one.")
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
                "This machine's clock is \(Int(clamping: abs(offset))) seconds \(direction) the issuer's. Set it; tokens look expired or not yet valid."
            )
        ]
    }

    private func keys(of client: OAuth2Client) async -> [Finding] {
        do {
            let keys = try await client.jwks()
            return keys.isEmpty
                ? [.wrong("Keys", "The issuer publishes no key; no token can be checked.")] : [.right("Keys", "\(keys.count) published")]
        } catch {
            return [.wrong("Keys", "The key set can't be read: \(Outcome.explain(error))")]
        }
    }
}
