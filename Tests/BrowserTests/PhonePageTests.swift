import AuthorizationServer
import CountersignSandbox
import Foundation
import JOSE
import TestSupport
import Testing

/// The page in a real browser, used by a script as by a person. Each test has a sandbox and a browser of its own.
///
/// With `COUNTERSIGN_SCREENSHOTS` the screenshots are kept in that folder, to be looked at.
@Suite(
    "The phones' page in Chromium", .serialized, .timeLimit(.minutes(10)),
    .enabled(if: OutsidePart.chromium.isEnabled, Comment(rawValue: OutsidePart.chromium.missingNote)))
struct PhonePageTests {
    @Test("a request is approved by a click")
    func click() async throws { try await use("click") }

    @Test("it is used with the keyboard alone, and the focus is seen and stays")
    func keyboard() async throws { try await use("keyboard") }

    @Test("of three numbers the right one signs in, and another does not")
    func number() async throws {
        try await use(
            "number", organization: Self.organization { $0.replacing("number_challenge: never", with: "number_challenge: always") })
    }

    @Test("a request is denied, and reported")
    func deny() async throws { try await use("deny") }

    @Test("a sign-in that was given up is shown as cancelled, one that nobody answered as expired")
    func cancelled() async throws { try await use("cancelled") }

    @Test("names and messages that attackers write are shown as text")
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

    @Test("a phone is set up, changed and removed")
    func settings() async throws { try await use("settings") }

    @Test("it fits phones and desks, light and dark, with enough contrast")
    func looks() async throws { try await use("looks") }

    @Test("assistive technology finds names, roles and headings, and is told what arrives")
    func assistive() async throws { try await use("assistive") }

    // MARK: - Running

    private static func organization(_ change: (String) -> String) -> String { change(OrgFile.sandboxDefault) }

    private func use(_ scenario: String, organization: String? = nil) async throws {
        let folder = try BrowserScreenshots()
        let sandbox = try await Sandbox.start(.init(host: "localhost", phonePort: 0, organization: organization))
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
