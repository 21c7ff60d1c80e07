import Foundation
import JOSE
import TestSupport
import Testing

@testable import IdentityCore
@testable import OAuthEndpoints
@testable import OAuthWire
@testable import SignInPages

/// Checks the number of reads and commits of a device without a browser (RFC 8628) and of a back-channel request (CIBA).
@Suite("Reads and commits of device and back-channel requests", .serialized)
struct DeviceGrantCostTests {
    private let cost = RequestCost()
    private let org: PushFixture

    init() async throws {
        org = try await PushFixture(store: cost.store, PageVisitor.prepare)
    }

    @Test("In a device grant, each request makes at most two reads and one commit, and a pending poll or a page makes no commit")
    func device() async throws {
        let client = "page-device"
        let request = TokenRequest(
            server: "default", client: ClientCredentials(clientID: client, endpoint: TestOrganization.tokenURL("default")),
            parameters: ["scope": "openid"])
        let started = try await cost.expect { try await org.engine.deviceAuthorize(request, context: PushFixture.context(10)).get() }
        let deviceCode = try #require(started.members["device_code"]?.stringValue)
        let userCode = try #require(started.members["user_code"]?.stringValue)
        func poll(at seconds: TimeInterval) async throws -> Result<TokenResponse, Refusal> {
            try await org.token(["grant_type": GrantType.deviceCode, "device_code": deviceCode], client: client, at: seconds)
        }
        let pending = try await cost.expect(commits: 0) { try await poll(at: 15) }
        #expect(pending.refused == .authorizationPending)

        let visitor = PageVisitor(org.engine, at: 16)
        // The form is derived from the browser's cookie.
        let entry = try await cost.expect(reads: 0, commits: 0) { try org.engine.activationPage(browser: visitor.cookies) }
        visitor.cookies.browser = entry.cookies.browser
        guard case .form(let formToken, _) = entry.outcome else { throw NoSuchThing("form") }
        func enter(_ code: String) async throws -> ActivationAnswer {
            try await org.engine.activate(code, formToken: formToken, browser: visitor.cookies, context: visitor.context)
        }
        try await cost.expect(commits: 0) { _ = try await enter("BBBB-BBBB") }
        let entered = try await cost.expect { try await enter(userCode) }
        guard case .redirect(let token) = entered.outcome else { throw NoSuchThing("sign-in") }
        visitor.follow(HostedAnswer(.redirect(token: token)))
        // The second read loads the user's factors, as for every correct first factor.
        let signIn = HostedAction.password(login: PushFixture.jane, password: TestOrganization.janesPassword)
        let first = try await visitor.form()
        // Undeclared in each read are the device's code and its transaction, which only the sign-in names.
        try await cost.expect(reads: 2, undeclared: 4) { _ = try await visitor.submit(signIn, on: first) }
        let page = try await cost.expect(commits: 0, undeclared: 2) { try await visitor.form() }
        guard case .device = page.content else { throw NoSuchThing("question: \(page.content)") }
        try await cost.expect(undeclared: 2) { _ = try await visitor.submit(.device(isAllowed: true), on: page) }
        try await cost.expect { _ = try await poll(at: 25).get() }
        // A used code is refused without a write.
        #expect(try await cost.expect(commits: 0) { try await poll(at: 35) }.refused == .invalidGrant)
    }

    @Test("A back-channel request and its final poll make one read and one commit each, and a pending poll makes one read")
    func backchannel() async throws {
        let phone = try await org.enroll()
        let id = try await cost.expect { try await org.backchannel(at: 10).get().secret() }
        // The client authenticates by its secret, so a poll has no single use to store.
        let pending = try await cost.expect(commits: 0) { try await org.pollBackchannel(id, at: 15) }
        #expect(pending.refused == .authorizationPending)
        _ = try await org.answer(phone, at: 16).get()
        try await cost.expect { _ = try await org.pollBackchannel(id, at: 20).get() }
    }

    @Test("The poll that reports a denied back-channel request makes one read and one commit")
    func denied() async throws {
        let phone = try await org.enroll()
        let id = try await org.backchannel(at: 10).get().secret()
        _ = try await org.answer(phone, consent: "DENIED_CONSENT_PROMPT", at: 12).get()
        #expect(try await cost.expect { try await org.pollBackchannel(id, at: 20) }.refused == .accessDenied)
    }
}
