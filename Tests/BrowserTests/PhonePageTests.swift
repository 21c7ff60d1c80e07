import AuthorizationServer
import CountersignSandbox
import Foundation
import JOSE
import TestSupport
import Testing

/// Tests the phone page in a real browser, which a script uses as a user does. Each test has its own sandbox and browser.
///
/// With `COUNTERSIGN_SCREENSHOTS`, the screenshots stay in that folder.
@Suite(
    "Phone page in Chromium", .serialized, .timeLimit(.minutes(10)),
    .enabled(if: OutsidePart.chromium.isEnabled, Comment(rawValue: OutsidePart.chromium.missingNote)))
struct PhonePageTests {
    @Test("A click on Approve on the phone page approves the sign-in, and the app gets tokens")
    func click() async throws { try await use("click") }

    @Test("The phone page is usable with the keyboard alone, and the focus is visible and does not move when a request arrives")
    func keyboard() async throws { try await use("keyboard") }

    @Test("On the phone page, the correct one of three numbers approves the sign-in, and a wrong number denies the sign-in")
    func number() async throws {
        try await use(
            "number", organization: Self.organization { $0.replacing("number_challenge: never", with: "number_challenge: always") })
    }

    @Test("On the phone page, the button Deny and the button It wasn't me both deny the sign-in")
    func deny() async throws { try await use("deny") }

    @Test("A sign-in that the app cancels is shown as cancelled, and an unanswered sign-in as expired")
    func cancelled() async throws { try await use("cancelled") }

    @Test("The phone page shows names and messages that an attacker wrote as text, not as markup")
    func foreignText() async throws {
        let evil = #"<img src=x onerror=\"window.hacked=1\"><script>window.hacked=1</script>"#
        try await use(
            "foreign-text",
            organization: Self.organization {
                $0.replacing("name: Jane Doe", with: "name: \"\(evil)\"")
                    .replacing("- mfa-webauthn\n", with: "- mfa-webauthn\n              - ciba\n")
                    .replacing(
                        "  - id: service-app",
                        with: """
                              - {id: bank-app, name: "<svg onload=hacked=1>", type: service, authentication: client_secret_basic,
                                 secret: bank-app-secret-1, grant_types: [ciba], assignment: everyone, sign_on_policy: one-factor}
                              - id: service-app
                            """)
            })
    }

    @Test("On the phone page, the user can set up a phone, change its settings and remove the phone")
    func settings() async throws { try await use("settings") }

    @Test("The phone page fits phone and desktop windows in light and dark schemes, with enough contrast")
    func looks() async throws { try await use("looks") }

    @Test("The phone page gives assistive technology names, roles and headings, and announces new requests")
    func assistive() async throws { try await use("assistive") }

    // MARK: - Running

    private static func organization(_ change: (String) -> String) -> String { change(OrgFile.sandboxDefault) }

    private func use(_ scenario: String, organization: String? = nil) async throws {
        let folder = try BrowserScreenshots()
        let sandbox = try await Sandbox.forTest(.init(host: "localhost", phonePort: 0, organization: organization))
        let page = try #require(sandbox.phoneURL)
        let result = try await ForeignProgram.run(
            .chromium,
            [
                OutsidePart.scripts.appending(path: "phone_page.py").path, scenario, sandbox.origin.absoluteString, page.absoluteString,
                folder.url.path,
            ],
            input: "", environment: ["SE_OFFLINE": "true", "SE_AVOID_STATS": "true"])
        #expect(result.status == 0, "\(result.errors)")
        await sandbox.stop()
        folder.close()
    }
}
