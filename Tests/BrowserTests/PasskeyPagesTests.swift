import AuthorizationServer
import CountersignSandbox
import TestSupport
import Testing

/// Tests passkeys on the hosted pages in a real browser with virtual authenticators, like `SignInPagesTests`. Browsers accept no IP address
/// as an RP ID, so the sandbox has the host `localhost`.
@Suite(
    "Passkeys on the hosted pages, in Chromium", .serialized, .timeLimit(.minutes(10)),
    .enabled(if: OutsidePart.chromium.isEnabled, Comment(rawValue: OutsidePart.chromium.missingNote)))
struct PasskeyPagesTests {
    @Test("A user creates a passkey after the password, and uses the passkey as the second factor of the next sign-in")
    func secondFactor() async throws { try await use("second-factor") }

    @Test("A passkey signs the user in without a user name and a password, by autofill and by the button of the first page")
    func firstFactor() async throws { try await use("first-factor") }

    @Test("After a cancelled passkey request, the page shows a message, and the user can try again or use the password")
    func cancelled() async throws { try await use("cancelled") }

    @Test("An authenticator without user verification is accepted as the second factor only")
    func unverified() async throws { try await use("unverified") }

    @Test("An unknown passkey and a copied passkey are refused on the first page without naming the user")
    func refused() async throws { try await use("refused") }

    @Test("Without scripts, the page of a passkey says that passkeys need JavaScript and leads to the other factors")
    func withoutScripts() async throws { try await use("without-scripts") }

    @Test("The pages offer a passkey and recovery codes, and a user who lost every passkey signs in with a code and creates another one")
    func lost() async throws { try await use("lost", offers: true) }

    @Test("A user declines the offers, and the next sign-in does not repeat them")
    func declined() async throws { try await use("declined", offers: true) }

    @Test("A passkey that was removed from the browser is refused there, and a security key without discoverable credentials signs in")
    func securityKey() async throws { try await use("security-key") }

    @Test("A user with two passkeys signs in with either one, as the first factor and after the password")
    func several() async throws { try await use("several", offers: true) }

    @Test("A passkey belongs to the organization's RP ID, a parent domain, and a passkey of the host itself is not found")
    func relyingParties() async throws {
        try await use("relying-parties", host: "login.example.localhost", relyingParty: "example.localhost")
    }

    private func use(
        _ scenario: String, offers: Bool = false, host: String = "localhost", relyingParty: String? = nil
    ) async throws {
        var organization = OrgFile.sandboxDefault
        if offers { organization = organization.replacing("offer: never", with: "offer: once") }
        if let relyingParty {
            organization = organization.replacing("passkeys:\n", with: "passkeys:\n  rp_id: \(relyingParty)\n")
                .replacing("http://localhost:8080", with: "http://\(host):8080")
        }
        let sandbox = try await Sandbox.forTest(.init(host: host, organization: organization))
        try await ChromiumScript("passkey_pages.py").run(scenario, at: sandbox)
        await sandbox.stop()
    }
}
