import Foundation
import IdentityCore
import TestSupport
import Testing

/// A browser that uses the recovery pages of a test server.
struct RecoveryBrowser {
    static let policy = ClassicPolicy(
        signOnPolicy: "one factor", recovery: [.sms, .voice, .email], unlocksBySelfService: true)
    static let app = WireRelyingParty.readingApp
    static let new = "Another-Horse-8"
    static let number = "+49 30 5550123"

    let server: PushServer
    let browser: WireBrowser

    /// Runs a test against an organization with self-service recovery, where Jane has a phone number.
    static func with(_ policy: ClassicPolicy = policy, _ body: @Sendable (RecoveryBrowser) async throws -> Void) async throws {
        try await PushServer.with(PushOrganization(classic: policy)) { server in
            try await server.give(.sms, number)
            try await body(RecoveryBrowser(server: server, browser: WireBrowser(server.wire)))
        }
    }

    /// Begins a sign-in and opens the page that asks for the user name.
    func form(isUnlock: Bool = false, _ changes: [String: String] = [:]) async throws -> WireResponse {
        let page = try await Self.app.begin(browser, changes)
        let link = try #require(page.body.firstMatch(of: /href="([^"]*)\/(forgot|unlock)"/)?.1, "\(page.body)")
        return try await browser.get("\(link)/\(isUnlock ? "unlock" : "forgot")")
    }

    /// Requests a code or a link by a channel.
    func ask(
        _ channel: String, as login: String = PushOrganization.jane, isUnlock: Bool = false, _ changes: [String: String] = [:]
    ) async throws -> WireResponse {
        try await browser.submit(
            try await form(isUnlock: isUnlock, changes), isUnlock ? "unlock" : "forgot", ["username": login, "channel": channel])
    }

    /// Requests a mail and returns the path of its link.
    func link(as login: String = PushOrganization.jane, isUnlock: Bool = false) async throws -> String {
        _ = try await ask("email", as: login, isUnlock: isUnlock)
        return try #require(await server.messages.received()?.link)
    }

    /// Opens the link of a mail and follows its redirect.
    func open(_ link: String, in browser: WireBrowser? = nil) async throws -> WireResponse {
        let browser = browser ?? self.browser
        return try await browser.follow(try await browser.get(link))
    }

    func set(_ password: String, _ repeated: String? = nil, on page: WireResponse, in browser: WireBrowser? = nil) async throws
        -> WireResponse
    {
        try await (browser ?? self.browser).submit(page, "new-password", ["password": password, "repeated": repeated ?? password])
    }

    /// Gives Jane a security question whose answer is "Swimming cup".
    func giveQuestion() async throws {
        let context = RequestContext(now: server.clock.now, requestID: "question")
        let jane = try #require(try await server.engine.user(login: PushOrganization.jane)?.id)
        _ = try #require(try await server.engine.grantQuestion("first_award", answer: "Swimming cup", userID: jane, context: context))
    }

    /// Locks an account.
    func lock(_ login: String = PushOrganization.jane) async throws {
        let browser = WireBrowser(server.wire)
        var page = try await Self.app.begin(browser)
        for _ in 1...5 { page = try await browser.signIn(page, login, "Wrong-Horse-7") }
    }

    /// Signs in with a password in a new browser, and returns the code; `nil` if the password is rejected.
    func code(_ password: String, _ login: String = PushOrganization.jane) async throws -> String? {
        let browser = WireBrowser(server.wire)
        let answer = try await browser.signIn(try await Self.app.begin(browser), login, password)
        return answer.status == 200 ? nil : try Self.app.code(answer)
    }

    /// Returns the status and body of a page without tokens and the user name, so that pages can be compared.
    static func look(_ page: WireResponse, without login: String = "") -> String {
        "\(page.status) "
            + page.body.replacing(/\/signin\/(recover\/)?[0-9A-Za-z_-]{30,}/, with: "").replacing(/form_token" value="[^"]*"/, with: "")
            .replacing(login, with: "")
    }
}
