import Foundation
import JOSE
import TestSupport
import Testing

@testable import AuthnAPI
@testable import DeviceAPI
@testable import IdentityCore
@testable import OAuthEndpoints
@testable import OAuthWire
@testable import SignInPages

/// Checks that requests declare all rows that they read, in cases that no other suite of this folder covers.
@Suite("The declared rows of a request", .serialized)
struct DeclaredRowsTests {
    private let cost = RequestCost()
    private let org: PushFixture
    private let visitor: PageVisitor

    init() async throws {
        org = try await PushFixture(store: cost.store) { definition in
            PageVisitor.prepare(&definition)
            definition.classic = ClassicPolicy(signOnPolicy: "two factors", remembering: .device, factors: [.push: .optional])
            var signed = Application(
                id: "signed-app", name: "Signed", kind: .web, authentication: .privateKeyJWT, grantTypes: ["password"],
                assignment: .init(everyone: true), signOnPolicy: "one factor")
            signed.keys = JSONWebKeySet([TestOrganization.clientKey?.publicKey].compactMap(\.self))
            definition.applications.append(signed)
        }
        visitor = PageVisitor(org.engine)
    }

    @Test("A token request with a client assertion and a proof of possession declares the rows that show their use")
    func uses() async throws {
        let url = TestOrganization.tokenURL("default")
        let now = TestOrganization.time(10)
        let assertion = try #require(TestOrganization.clientKey).sign([
            "iss": "signed-app", "sub": "signed-app", "aud": .string(url), "jti": "one",
            "exp": .integer(Int64(now.timeIntervalSince1970) + 60),
        ])
        let maker = try ProofMaker()
        func signIn(_ nonce: String?) async throws -> Result<TokenResponse, Refusal> {
            let proof = PresentedProof(values: [try maker.proof("POST", url, at: now, nonce: nonce)], method: "POST", url: url)
            let request = TokenRequest(
                server: "default",
                client: ClientCredentials(assertionType: ClientAuthenticator.assertionType, assertion: assertion, endpoint: url),
                parameters: [
                    "grant_type": "password", "username": PushFixture.jane, "password": TestOrganization.janesPassword, "scope": "openid",
                ], proof: proof)
            return try await org.engine.token(request, context: PushFixture.context(10))
        }
        guard case .failure(let refusal) = try await signIn(nil) else { throw NoSuchThing("nonce") }
        try await cost.expect { _ = try await signIn(refusal.nextNonce).get() }
        // The first commit stores the use again, which conflicts; the second one logs the refusal.
        #expect(try await cost.expect(commits: 2) { try await signIn(refusal.nextNonce) }.refused == .invalidClient)
    }

    @Test("A classic sign-in from a page with a device cookie declares its rows, also for an unknown user name")
    func deviceCookie() async throws {
        let phone = try await org.enroll(at: 0)
        let caller = ClassicCaller(deviceCookie: "aDeviceTokenOf20Byte", isPage: true)
        func signIn(_ login: String, _ password: String) async throws -> Result<ClassicAnswer, ClassicRefusal> {
            try await org.engine.classicSignIn(
                ClassicRequest(username: login, password: password), caller: caller, context: PushFixture.context(10))
        }
        for login in [PushFixture.jane, "unknown@example.com"] {
            #expect(try await cost.expect { try await signIn(login, "wrong") }.refusal == "E0000004")
        }
        // The second read loads the user's factors.
        let answer = try await cost.expect(reads: 2) { try await signIn(PushFixture.jane, TestOrganization.janesPassword).get() }
        guard case .transaction(let asked) = answer.outcome, let token = asked.stateToken, let id = asked.factors?.first?.id else {
            throw NoSuchThing("sign-in")
        }
        func verify() async throws {
            _ = try await org.engine.classicVerify(
                factorID: id, ClassicProof(remembersDevice: true), stateToken: token, context: PushFixture.context(11)
            ).get()
        }
        try await cost.expect { try await verify() }
        _ = try await org.answer(phone, at: 12).get()
        try await cost.expect { try await verify() }
        // The remembered device replaces the second factor.
        try await cost.expect(reads: 2) { _ = try await signIn(PushFixture.jane, TestOrganization.janesPassword).get() }
    }

    @Test("The enrollment of a phone by the ticket of a sign-in page declares its rows")
    func ticket() async throws {
        _ = try await visitor.authorize("page-vault")
        _ = try await visitor.submit(
            .password(login: PushFixture.jane, password: TestOrganization.janesPassword), on: try await visitor.form())
        let page = try await visitor.form()
        _ = try await visitor.submit(.enrollPhone(authenticatorID: nil), on: page)
        guard case .phone(let offer, _) = try await visitor.form().content,
            let secret = offer.uri?.split(separator: "ticket=").last.map(String.init)
        else { throw NoSuchThing("ticket") }
        let exchanged = try await cost.expect {
            try await org.token(
                ["grant_type": GrantType.enrollmentTicket, "ticket": secret], client: "phone-app", server: nil, at: 12
            ).get()
        }
        let phone = try Phone(userID: try await org.userID())
        try await cost.expect {
            _ = try await org.engine.enrollDevice(
                phone.enrollment(), authorization: .bearer(exchanged.accessToken), context: PushFixture.context(13)
            ).get()
        }
    }

    @Test("An authorization request with a session token and a sign-out by an ID token without a cookie declare their rows")
    func tokens() async throws {
        let token = try #require(
            try await org.engine.mintSessionToken(userID: try await org.userID(), context: PushFixture.context(5)))
        let code = try await cost.expect {
            try PageVisitor.code(try await visitor.authorize(PageVisitor.app, ["sessionToken": token]))
        }
        let tokens = try await org.token(
            [
                "grant_type": "authorization_code", "code": code, "redirect_uri": PageVisitor.redirectURI,
                "code_verifier": PageVisitor.verifier,
            ], client: PageVisitor.app, at: 11
        ).get()
        let hint = try #require(tokens.idToken)
        try await cost.expect {
            _ = try await org.engine.logout(
                AuthorizationParameters(["id_token_hint": hint]), server: "default", browser: BrowserSecrets(), context: visitor.context)
        }
    }

    @Test("A back-channel request with an ID token declares its rows, and so does the revocation of an mfa_token")
    func hint() async throws {
        let phone = try await org.enroll()
        let id = try await org.backchannel(at: 10).get().secret()
        _ = try await org.answer(phone, at: 12).get()
        let hint = try #require(try await org.pollBackchannel(id, at: 20).get().idToken)
        try await cost.expect { _ = try await org.backchannel(["id_token_hint": hint, "scope": "openid"], at: 60).get() }
        let mfaToken = try await org.mfaToken()
        try await cost.expect { try await org.revoke(mfaToken) }
    }

    @Test("A maintenance token takes one more query: the id of its assertion's use contains the enrollment's, which is not known before")
    func maintenance() async throws {
        let phone = try await org.enroll()
        try await cost.expect(undeclared: 1) {
            _ = try await org.token(
                [
                    "grant_type": GrantType.jwtBearer, "assertion": try phone.assertion(at: 2).signed(),
                    "scope": DeviceFixture.maintenanceManage,
                ], client: "phone-app", server: nil, at: 2
            ).get()
        }
    }
}
