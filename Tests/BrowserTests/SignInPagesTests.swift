import AuthorizationServer
import CountersignSandbox
import Foundation
import TestSupport
import Testing

/// Tests the hosted sign-in pages in a real browser, which a script uses as a user does.
///
/// Each test has its own sandbox and browser. It fails if the console reports an error or a violation of the pages'
/// Content-Security-Policy.
///
/// With `COUNTERSIGN_SCREENSHOTS`, the screenshots stay in that folder.
@Suite(
    "Sign-in pages in Chromium", .serialized, .timeLimit(.minutes(10)),
    .enabled(if: OutsidePart.chromium.isEnabled, Comment(rawValue: OutsidePart.chromium.missingNote)))
struct SignInPagesTests {
    @Test("A password and a push with a number challenge sign the user in")
    func push() async throws { try await use("push", organization: Self.withNumbers) }

    @Test("The push page counts down until another push can be sent, confirms it, and leads to the other factors")
    func pushPage() async throws { try await use("push-page", hasApp: true) }

    @Test("A denied push leads back to the choice of a factor, and the code of an authenticator app signs the user in")
    func pushDenied() async throws { try await use("push-denied", hasApp: true) }

    @Test("A password and the code of an authenticator app sign the user in")
    func code() async throws { try await use("code", hasApp: true, hasPhone: false) }

    @Test("A session signs the user in to further apps, and pages ask only for the factors that are missing")
    func session() async throws { try await use("session", hasApp: true) }

    @Test("A wrong password, a double submission, the back button, a cancellation and a late answer are handled")
    func trouble() async throws { try await use("trouble", hasApp: true) }

    @Test("A locked account shows the same message as a wrong password")
    func locked() async throws { try await use("locked") }

    @Test("The sign-in pages are usable with the keyboard alone, and the focus is visible")
    func keyboard() async throws { try await use("keyboard", hasApp: true) }

    @Test("The sign-in pages use the language that the app requests")
    func german() async throws { try await use("german") }

    @Test("A form_post response submits itself")
    func formPost() async throws { try await use("form-post") }

    @Test("The sign-in pages work without scripts, including the wait for a device")
    func withoutScripts() async throws { try await use("without-scripts", organization: Self.withNumbers) }

    @Test(
        "A user without a second factor sets up an authenticator app by its QR code",
        .enabled(if: OutsidePart.zbar.isEnabled, Comment(rawValue: OutsidePart.zbar.missingNote)))
    func enrollment() async throws { try await use("enrollment", hasPhone: false) }

    @Test(
        "A user without a second factor sets up a phone by a QR code, and the page continues by itself",
        .enabled(if: OutsidePart.zbar.isEnabled, Comment(rawValue: OutsidePart.zbar.missingNote)))
    func phoneByCode() async throws { try await use("phone-by-code", hasPhone: false) }

    @Test("A user who must change the password chooses another, and the page explains why a password is rejected")
    func duePassword() async throws { try await use("due-password", organization: Self.withDuePassword, hasPhone: false) }

    @Test("Logout with an ID token needs no confirmation, and without one the page asks the user")
    func signOut() async throws { try await use("sign-out") }

    @Test("On the page for device codes, the user allows or denies a device's sign-in")
    func device() async throws { try await use("device", hasApp: true, hasPhone: false) }

    @Test("An app that requires consent gets what the user allows, and the user is not asked twice")
    func consent() async throws {
        let strange = OrgFile.sandboxDefault.replacing(
            "secret: web-app-secret-01\n", with: "secret: web-app-secret-01\n    consent: required\n")
        try await use("consent", organization: strange)
    }

    @Test("An expired session requires a new sign-in, and a page of a closed session shows an error")
    func expired() async throws { try await use("expired", hasApp: true, hasPhone: false) }

    @Test("Every page fits phone and desktop windows in light and dark schemes and passes the checks of axe")
    func looks() async throws { try await use("looks", organization: Self.withNumbers, hasApp: true) }

    // MARK: - Running

    private static let withNumbers = OrgFile.sandboxDefault.replacing("number_challenge: never", with: "number_challenge: always")

    private static let withDuePassword = OrgFile.sandboxDefault.replacing(
        "- login: \(SandboxUser.jane.login)\n", with: "- login: \(SandboxUser.jane.login)\n    must_change_password: true\n")

    private func use(_ scenario: String, organization: String? = nil, hasApp: Bool = false, hasPhone: Bool = true) async throws {
        let port = try SitePort()
        let sandbox = try await Sandbox.start(
            .init(host: "localhost", organization: port.place(in: organization ?? OrgFile.sandboxDefault)))
        var environment = ["SITE_PORT": "\(port.number)"]
        // The phone is set up first, because an existing second factor would be required for the setup.
        if hasPhone { _ = try await sandbox.phone(for: SandboxUser.jane.login) }
        if hasApp { environment["OTP_URI"] = try await sandbox.authenticatorApp(for: SandboxUser.jane.login).uri }
        try await ChromiumScript("signin_pages.py").run(scenario, at: sandbox, environment: environment)
        await sandbox.stop()
    }
}
