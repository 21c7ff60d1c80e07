import Foundation
import JOSE
import Testing

@testable import IdentityCore
@testable import OAuthWire
@testable import SignInPages

/// A browser on the hosted pages. It keeps its cookies and the address of its page.
final class PageVisitor {
    static let app = "page-app"
    static let redirectURI = "com.example:/callback"
    /// The code verifier of RFC 7636, appendix B.
    static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"

    let engine: Engine
    var seconds: TimeInterval
    var cookies = BrowserSecrets()
    /// The token in the address of the current page.
    private(set) var token = ""
    /// The messages of the server, newest last.
    var messages: [OutgoingMessage] { engine.outbox.messages }

    init(_ engine: Engine, at seconds: TimeInterval = 10) {
        (self.engine, self.seconds) = (engine, seconds)
    }

    /// Adds the application whose users sign in on the pages, and the policies that the tests need.
    static func prepare(_ definition: inout OrganizationDefinition) {
        for (id, policy) in [(app, "one factor"), ("page-vault", "two factors"), ("page-device", "one factor")] {
            var application = Application(
                id: id, name: id, kind: .native,
                grantTypes: ["authorization_code", "refresh_token", GrantType.deviceCode], redirectURIs: [redirectURI],
                postLogoutRedirectURIs: [redirectURI], assignment: .init(everyone: true), signOnPolicy: policy)
            application.silentSignIn = .always
            definition.applications.append(application)
        }
        allowPhones(&definition)
        definition.rateLimits = RateLimits(perClient: 1_000_000, perAddress: 1_000_000, perAddressSignIns: 1_000_000, perUser: 1_000_000)
    }

    /// Lets users enroll a phone during a sign-in.
    static func allowPhones(_ definition: inout OrganizationDefinition) {
        for index in definition.applications.indices where definition.applications[index].id == "phone-app" {
            definition.applications[index].grantTypes.append(GrantType.enrollmentTicket)
        }
    }

    var context: RequestContext {
        var context = PushFixture.context(seconds)
        context.browserDevice = cookies.device
        return context
    }

    // MARK: - Requests

    /// Returns the parameters of an authorize request.
    static func request(_ client: String = app, _ more: [String: String] = [:]) -> [String: String] {
        [
            "client_id": client, "redirect_uri": redirectURI, "response_type": "code", "scope": "openid", "state": "s",
            "code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", "code_challenge_method": "S256",
        ].merging(more) { $1 }
    }

    func authorize(
        _ client: String = app, _ more: [String: String] = [:], isForm: Bool = false
    ) async throws -> HostedAnswer {
        try await authorize(Self.request(client, more), isForm: isForm)
    }

    func authorize(_ parameters: [String: String], isForm: Bool = false) async throws -> HostedAnswer {
        follow(
            try await engine.authorize(
                AuthorizationParameters(parameters), server: "default", isForm: isForm, browser: cookies, context: context))
    }

    /// Loads the page.
    func load() async throws -> HostedAnswer {
        follow(try await engine.signInPage(token, browser: cookies, context: context))
    }

    /// Loads the page, and returns it with its form token.
    func form() async throws -> HostedPage {
        let answer = try await load()
        guard case .page(let page) = answer.outcome else { throw NoSuchThing("page: \(answer.outcome)") }
        return page
    }

    /// Submits the form of a page with this action.
    func submit(_ action: HostedAction, on page: HostedPage) async throws -> HostedAnswer {
        follow(
            try await engine.signInStep(
                action, of: token, formToken: page.formToken, browser: cookies, context: context))
    }

    /// Keeps the cookies of an answer, and follows its redirect.
    @discardableResult
    func follow(_ answer: HostedAnswer) -> HostedAnswer {
        if let browser = answer.cookies.browser { cookies.browser = browser }
        if let session = answer.cookies.session { cookies.session = session }
        if let device = answer.cookies.device { cookies.device = device }
        if let signIn = answer.cookies.signIn { cookies.signIn = signIn }
        if case .redirect(let token) = answer.outcome { self.token = token }
        return answer
    }

    /// Returns the authorization code that the client gets.
    static func code(_ answer: HostedAnswer) throws -> String {
        guard case .respond(let response) = answer.outcome else { throw NoSuchThing("response: \(answer.outcome)") }
        return try #require(response.parameters.first { $0.name == "code" }?.value)
    }
}
