import AuthFoundation
import BrowserSignin
import CountersignSandbox
import Foundation
import OAuth2Auth

/// The steps of the browser demo: two apps and a device share a session, one app requires a second factor, and the session ends.
struct BrowserDemoScript {
    private static let jane = SandboxUser.jane
    /// The app that requires two factors.
    private static let first = SandboxApplication.browser
    /// The app that requires one factor. Its `silent_sign_in` is `always`, so a session signs in to it without a page.
    private static let second = SandboxApplication(clientID: "sso-app")

    let sandbox: Sandbox
    let reporter: StepReporter
    let browser: DemoBrowser
    /// Whether the automated browser chooses the phone for the step-up instead of the authenticator app.
    var stepsUpByPhone = false

    func run() async throws {
        try await Credential.withStorage(MemoryTokenStorage(), clock: sandbox.clock) {
            let phone = try await reporter.step("Phone enrolled") {
                try await sandbox.phone(for: Self.jane.login)
            } telling: {
                "a virtual phone of \($0.login)"
            }
            try await useOneSession(phone)
            try await stepUp(phone)
        }
    }

    private func useOneSession(_ phone: VirtualPhone) async throws {
        browser.becomes(SandboxBrowser.person(Self.jane, phone: phone))
        browser.tell(
            """
            The browser opens on the sandbox's sign-in page. Sign in as \(Self.jane.login) with the password \(Self.jane.password ?? "").
            Then approve on Jane's phone, \(sandbox.phoneURL?.absoluteString ?? "which has no page"), with the number that the browser shows.
            """)
        let signin = try await browser.signin(Self.first, sandbox)
        let token = try await reporter.step("Signed in on the server's pages, with a password and a push") {
            try proved(["pwd", "mfa"], await browser.signIn(signin))
        } telling: {
            "browser-app asks for two factors: after the password \(browser.number.map { "the number \($0)" } ?? "the browser's number") was picked on the phone. The id token says so: \(Self.methods($0))"
        }
        _ = try await reporter.step("Id token validated") {
            guard let idToken = token.idToken else { throw CommandFailure("The server returned no ID token.") }
            guard try idToken.validate(using: try await signin.signInFlow.client.jwks()) else { throw JWTError.signatureInvalid }
            return idToken
        } telling: {
            "\($0.header.algorithm.rawValue) by key \($0.header.keyId.prefix(8))…, subject \($0.subject ?? "unknown user"), for \($0.preferredUsername ?? "")"
        }
        browser.tell("A second app opens the same server. The server asks for no password and redirects back at once.")
        let pages = browser.pageCount
        _ = try await reporter.step("Single sign-on to a second app") {
            let token = try await browser.signIn(try await browser.signin(Self.second, sandbox))
            guard browser.pageCount == pages else { throw CommandFailure("The server showed a page instead of signing in by the session.") }
            return token
        } telling: {
            "sso-app has \($0.idToken?.preferredUsername ?? "unknown user") signed in by the browser's session; no page was shown"
        }
        try await signOut(token, of: signin, telling: "The browser opens again to end its session.")
    }

    private func stepUp(_ phone: VirtualPhone) async throws {
        browser.tell("Once more the second app, without a session. Jane's password is enough for it: \(Self.jane.password ?? "").")
        _ = try await reporter.step("Signed in to the second app with the password alone") {
            try proved(["pwd"], await browser.signIn(browser.signin(Self.second, sandbox)), isWhole: true)
        } telling: {
            "sso-app asks for one factor. The id token says which: \(Self.methods($0))"
        }
        let app = try await sandbox.authenticatorApp(for: Self.jane.login)
        browser.becomes(stepsUpByPhone ? SandboxBrowser.person(Self.jane, phone: phone) : SandboxBrowser.person(Self.jane, app: app))
        browser.tell(
            """
            Now the first app, which asks for two factors. The password is not asked for again: give the code of Jane's authenticator app, or
            approve on Jane's phone.
            """)
        let signin = try await browser.signin(Self.first, sandbox)
        let token = try await reporter.step("Stepped up with a second factor") {
            try await browser.showing(app) { try proved(["pwd", "mfa"], await browser.signIn(signin)) }
        } telling: {
            "browser-app asks for two factors; the password still counted, and only the second factor was asked for. The id token: \(Self.methods($0))"
        }
        try await signInDevice()
        try await signOut(token, of: signin, telling: "The browser opens for the last time, to end its session.")
    }

    private func signInDevice() async throws {
        let flow = DeviceAuthorizationFlow(client: OAuth2Client(sandbox.configuration(Self.first), clock: sandbox.clock))
        let verification = try await reporter.step("Code for a device received") {
            try await flow.start()
        } telling: {
            "\($0.userCode), to be entered at \($0.verificationUri.absoluteString)"
        }
        browser.tell(
            "A television would show this. Jane is still signed in, so she only has to allow it.\n\n\(DeviceNotice().text(verification))")
        _ = try await reporter.step("Device signed in without a keyboard") {
            try await browser.connect(verification)
            return try await flow.resume()
        } telling: {
            "Jane allowed it in her browser; the device has its own tokens for \($0.idToken?.preferredUsername ?? "unknown user")"
        }
    }

    private func signOut(_ token: Token, of signin: BrowserSignin, telling words: TerminalText) async throws {
        browser.tell(words)
        let client = signin.signInFlow.client
        try await reporter.step("Signed out") {
            let credential = try Credential.store(token)
            let report = try await browser.signOut(credential, of: signin)
            if let failure = report.failure { throw failure }
            guard try await client.introspect(token: token, type: .accessToken).active == false else {
                throw CommandFailure("The access token is still active. Please report this bug of Countersign.")
            }
        } telling: {
            "the browser's session has ended, and the app's tokens are revoked"
        }
    }

    /// Returns the token if its ID token lists these authentication methods, otherwise throws. With `isWhole`, no other methods are
    /// allowed.
    private func proved(_ methods: Set<String>, _ token: Token, isWhole: Bool = false) throws -> Token {
        let used = Set(token.idToken?.authenticationMethods?.map(\.rawValue) ?? [])
        guard isWhole ? used == methods : used.isSuperset(of: methods) else {
            let (found, expected) = (used.sorted().joined(separator: " "), methods.sorted().joined(separator: " "))
            throw CommandFailure("The ID token has the factors \(found) instead of \(expected). Please report this bug of Countersign.")
        }
        return token
    }

    private static func methods(_ token: Token) -> String {
        "amr " + (token.idToken?.authenticationMethods?.map(\.rawValue).joined(separator: " ") ?? "is missing")
    }
}
