import AuthorizationServer
import CountersignSandbox
import Foundation
import TestSupport
import Testing

/// The hosted sign-in pages in a real browser, used by a script as by a person. Each test has a sandbox and a browser of its own; each
/// fails if the console tells of an error or of a violation of the pages' policy.
///
/// With `COUNTERSIGN_SCREENSHOTS` the screenshots are kept in that folder, to be looked at.
@Suite(
    "The sign-in pages in Chromium", .serialized, .timeLimit(.minutes(10)),
    .enabled(if: OutsidePart.chromium.isEnabled, Comment(rawValue: OutsidePart.chromium.missingNote)))
struct SignInPagesTests {
    @Test("a password and a push whose number is picked on the phone sign in")
    func push() async throws { try await use("push", organization: Self.withNumbers) }

    @Test("The page of a push counts down until another can be sent, says that it was sent, and leads to the other factors.")
    func pushPage() async throws { try await use("push-page", hasApp: true) }

    @Test("A denied push leads back to the choice of a factor, and the code of an authenticator app signs the user in.")
    func pushDenied() async throws { try await use("push-denied", hasApp: true) }

    @Test("a password and the code of an authenticator app sign in")
    func code() async throws { try await use("code", hasApp: true, hasPhone: false) }

    @Test("a session signs in to further apps without a prompt, and asks only for what they ask for more")
    func session() async throws { try await use("session", hasApp: true) }

    @Test("a wrong password, a form sent twice, going back, giving up and coming too late are answered as they should be")
    func trouble() async throws { try await use("trouble", hasApp: true) }

    @Test("a locked account looks like a wrong password")
    func locked() async throws { try await use("locked") }

    @Test("they are used with the keyboard alone, and the focus is seen")
    func keyboard() async throws { try await use("keyboard", hasApp: true) }

    @Test("they speak the language that the app asks for")
    func german() async throws { try await use("german") }

    @Test("an answer in a form sends itself")
    func formPost() async throws { try await use("form-post") }

    @Test("without scripts they work, waiting for a device included")
    func withoutScripts() async throws { try await use("without-scripts", organization: Self.withNumbers) }

    @Test(
        "who has no second factor sets up an authenticator app by its QR code",
        .enabled(if: OutsidePart.zbar.isEnabled, Comment(rawValue: OutsidePart.zbar.missingNote)))
    func enrollment() async throws { try await use("enrollment", hasPhone: false) }

    @Test(
        "who has no second factor sets up a phone by scanning the page, and the page goes on by itself",
        .enabled(if: OutsidePart.zbar.isEnabled, Comment(rawValue: OutsidePart.zbar.missingNote)))
    func phoneByCode() async throws { try await use("phone-by-code", hasPhone: false) }

    @Test("who signs in with a password that is due chooses another, and is told why one will not do")
    func duePassword() async throws { try await use("due-password", organization: Self.withDuePassword, hasPhone: false) }

    @Test("an app signs out at once with its id token, and else the person is asked")
    func signOut() async throws { try await use("sign-out") }

    @Test("a device is connected by its code, or refused")
    func device() async throws { try await use("device", hasApp: true, hasPhone: false) }

    @Test("a stranger's app gets what the person allows, and is not asked about twice")
    func consent() async throws {
        let strange = OrgFile.sandboxDefault.replacing(
            "secret: web-app-secret-01\n", with: "secret: web-app-secret-01\n    consent: required\n")
        try await use("consent", organization: strange)
    }

    @Test("a session that is over signs in to nothing, and neither does a page that goes on with it")
    func expired() async throws { try await use("expired", hasApp: true, hasPhone: false) }

    @Test("every page fits phones and desks, light and dark, and satisfies axe")
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
        // A phone first: once there is a second factor, setting up another asks for it.
        if hasPhone { _ = try await sandbox.phone(for: SandboxUser.jane.login) }
        if hasApp { environment["OTP_URI"] = try await sandbox.authenticatorApp(for: SandboxUser.jane.login).uri }
        try await ChromiumScript("signin_pages.py").run(scenario, at: sandbox, environment: environment)
        await sandbox.stop()
    }
}
