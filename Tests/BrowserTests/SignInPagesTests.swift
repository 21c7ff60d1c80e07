import AuthorizationServer
import CountersignSandbox
import Foundation
import TestSupport
import Testing

/// Tests the hosted sign-in pages in a real browser, which a script uses as a user does.
///
/// Each test has its own sandbox and browser. A test also fails if the browser's console reports an error or a violation of the pages'
/// Content-Security-Policy.
///
/// With `COUNTERSIGN_SCREENSHOTS`, the screenshots stay in that folder.
@Suite(
    "Sign-in pages in Chromium", .serialized, .timeLimit(.minutes(10)),
    .enabled(if: OutsidePart.chromium.isEnabled, Comment(rawValue: OutsidePart.chromium.missingNote)))
struct SignInPagesTests {
    @Test("A password and a push with a number challenge sign the user in")
    func push() async throws { try await use("push", organization: Self.withNumbers) }

    @Test("The push page counts down until the user can resend the push, confirms the resend, and offers the other factors")
    func pushPage() async throws { try await use("push-page", hasApp: true) }

    @Test("After a denied push, the page shows the choice of factors again, and the code of an authenticator app signs the user in")
    func pushDenied() async throws { try await use("push-denied", hasApp: true) }

    @Test("A password and the code of an authenticator app sign the user in")
    func code() async throws { try await use("code", hasApp: true, hasPhone: false) }

    @Test("A session signs the user in to other apps, and the pages ask only for factors that the session lacks")
    func session() async throws { try await use("session", hasApp: true) }

    @Test(
        "A wrong password, a double click or the back button does not break a sign-in, and Cancel or a timeout ends the sign-in with an error"
    )
    func trouble() async throws { try await use("trouble", hasApp: true) }

    @Test("For a locked account, the sign-in page shows the same message as for a wrong password")
    func locked() async throws { try await use("locked") }

    @Test("The sign-in pages are usable with the keyboard alone, and the focus is visible")
    func keyboard() async throws { try await use("keyboard", hasApp: true) }

    @Test("The sign-in pages use the language that the app requests")
    func german() async throws { try await use("german") }

    @Test("The page with a form_post response submits its form automatically")
    func formPost() async throws { try await use("form-post") }

    @Test("The sign-in pages work without scripts, including the wait for an approval on a phone")
    func withoutScripts() async throws { try await use("without-scripts", organization: Self.withNumbers) }

    @Test(
        "A user without a second factor sets up an authenticator app with a QR code",
        .enabled(if: OutsidePart.zbar.isEnabled, Comment(rawValue: OutsidePart.zbar.missingNote)))
    func enrollment() async throws { try await use("enrollment", hasPhone: false) }

    @Test(
        "A user without a second factor sets up a phone with a QR code, and the page continues automatically",
        .enabled(if: OutsidePart.zbar.isEnabled, Comment(rawValue: OutsidePart.zbar.missingNote)))
    func phoneByCode() async throws { try await use("phone-by-code", hasPhone: false) }

    @Test("A user who must change the password chooses a new password, and the page explains why a password is rejected")
    func duePassword() async throws { try await use("due-password", organization: Self.withDuePassword, hasPhone: false) }

    @Test("Logout with an ID token needs no confirmation, and for logout without an ID token the page asks the user to confirm")
    func signOut() async throws { try await use("sign-out") }

    @Test("On the page for device codes, the user allows or denies a device's sign-in")
    func device() async throws { try await use("device", hasApp: true, hasPhone: false) }

    @Test("An app that requires consent gets tokens only if the user allows access, and the user is asked again only for a new scope")
    func consent() async throws {
        let strange = OrgFile.sandboxDefault.replacing(
            "secret: web-app-secret-01\n", with: "secret: web-app-secret-01\n    consent: required\n")
        try await use("consent", organization: strange)
    }

    @Test("An expired session requires a new sign-in, and a page whose session the user signed out shows an error")
    func expired() async throws { try await use("expired", hasApp: true, hasPhone: false) }

    @Test("The sign-in pages fit phone and desktop windows in light and dark schemes, and pass the accessibility checks of axe")
    func looks() async throws { try await use("looks", organization: Self.withNumbers, hasApp: true) }

    // MARK: - Running

    private static let withNumbers = OrgFile.sandboxDefault.replacing("number_challenge: never", with: "number_challenge: always")

    private static let withDuePassword = OrgFile.sandboxDefault.replacing(
        "- login: \(SandboxUser.jane.login)\n", with: "- login: \(SandboxUser.jane.login)\n    must_change_password: true\n")

    private func use(_ scenario: String, organization: String? = nil, hasApp: Bool = false, hasPhone: Bool = true) async throws {
        let port = try SitePort()
        let sandbox = try await Sandbox.forTest(
            .init(host: "localhost", organization: port.place(in: organization ?? OrgFile.sandboxDefault)))
        var environment = ["SITE_PORT": "\(port.number)"]
        // The phone is enrolled first, because its enrollment would require an existing second factor.
        if hasPhone { _ = try await sandbox.phone(for: SandboxUser.jane.login) }
        if hasApp { environment["OTP_URI"] = try await sandbox.authenticatorApp(for: SandboxUser.jane.login).uri }
        try await ChromiumScript("signin_pages.py").run(scenario, at: sandbox, environment: environment)
        await sandbox.stop()
    }
}
