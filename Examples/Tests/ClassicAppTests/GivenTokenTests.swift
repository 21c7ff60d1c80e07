import CountersignSandbox
import ExampleTestSupport
import Foundation
import OktaAuthSdk
import Testing

@testable import ClassicApp

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@MainActor
@Suite("Recovery and activation tokens in the classic app", .timeLimit(.minutes(5)))
struct GivenTokenTests {
    private static let recovery = "sign_on_policy: one-factor\nrecovery: [email]\n"
    private static let portal = "a-token-of-the-portal-0123456789"

    @Test("In the classic app, a mailed recovery token can reset a password only once")
    func recovery() async throws {
        try await withSandbox(.classic(Self.recovery)) { sandbox in
            let visit = ClassicVisit(sandbox)
            try await visit.take("Forgot password", ["username": ClassicVisit.jane, "way": "email"])
            let token = try #require(try await sandbox.outbox.next(by: .mail).link?.lastPathComponent)
            let there = ClassicVisit(sandbox)
            try await there.take("Continue with a token", ["kind": "recovery", "token": token])
            #expect(there.model.stage == .transaction(.passwordReset))
            try await there.take("Set a new password", ["new": "Another-Horse-8", "again": "Another-Horse-8"])
            #expect(there.model.stage == .done(hasTokens: false))
            let again = ClassicVisit(sandbox)
            try await again.take("Continue with a token", ["kind": "recovery", "token": token])
            #expect(again.model.stage == .start && again.model.errorMessage?.isEmpty == false)
            await again.signIn("Another-Horse-8")
            #expect(again.model.stage == .done(hasTokens: false))
        }
    }

    @Test("In the classic app, a user without a password can set a password with an activation token")
    func activation() async throws {
        try await withSandbox(.classic(Self.recovery)) { sandbox in
            try await sandbox.add(SandboxUser(login: "new.person@example.com", password: nil))
            let token = try await sandbox.activationToken(for: "new.person@example.com")
            let visit = ClassicVisit(sandbox)
            try await visit.take("Continue with a token", ["kind": "activation", "token": "x" + token])
            #expect(visit.model.stage == .start && visit.model.errorMessage?.isEmpty == false)
            try await visit.take("Continue with a token", ["kind": "activation", "token": token])
            #expect(visit.model.stage == .transaction(.passwordReset) && visit.model.details.first == "Account: new.person@example.com")
            try await visit.take("Set a new password", ["new": "First-Horse-1", "again": "First-Horse-1"])
            #expect(visit.model.stage == .done(hasTokens: false))
            try await visit.take("Back to sign-in")
            visit.model.username = "new.person@example.com"
            visit.model.password = "First-Horse-1"
            await visit.model.signIn()
            #expect(visit.model.stage == .done(hasTokens: false))
        }
    }

    @Test(
        "If a trusted back end starts a recovery, the classic app continues with a button, because the response contains the token",
        arguments: [true, false])
    func backEnd(hasQuestion: Bool) async throws {
        let callers = "trusted_callers: [{ name: portal, token: \(Self.portal) }]\n"
        try await withSandbox(.classic(Self.recovery + callers)) { sandbox in
            if hasQuestion { try await sandbox.addSecurityQuestion("first_award", answer: "Swimming cup", for: ClassicVisit.jane) }
            let visit = ClassicVisit(sandbox, BackEndService(sandbox, token: Self.portal))
            try await visit.take("Forgot password", ["username": ClassicVisit.jane, "way": "email"])
            #expect(visit.model.stage == .transaction(.recovery) && visit.model.headline == "Your account was found.")
            try await visit.take("Continue")
            if hasQuestion {
                #expect(visit.model.headline == "Answer your security question to continue.")
                try await visit.take("Answer your question", ["answer": "Swimming cup"])
            }
            #expect(visit.model.stage == .transaction(.passwordReset))
            try await visit.take("Set a new password", ["new": "Another-Horse-8", "again": "Another-Horse-8"])
            #expect(visit.model.stage == .done(hasTokens: false))
        }
    }
}

/// The service of an app that uses its own back end, which the organization trusts.
@MainActor
private final class BackEndService: ClassicServicing {
    private let sandbox: Sandbox
    private let http: BackEndHTTP
    private let other: ClassicService

    init(_ sandbox: Sandbox, token: String) {
        self.sandbox = sandbox
        http = BackEndHTTP(token: token)
        other = ClassicService(organization: sandbox.origin)
    }

    var signedInUser: String? { other.signedInUser }

    func recoverPassword(username: String, by way: OktaRecoveryFactors) async throws -> OktaAuthStatus {
        let start = OktaAuthStatusUnauthenticated(oktaDomain: sandbox.origin)
        start.restApi.httpRequestListener = http
        let address = sandbox.origin.appending(path: "api/v1/authn/recovery/password").absoluteString
        let link = try JSONDecoder().decode(
            LinksResponse.Link.self, from: Data(#"{"href":"\#(address)","hints":{"allow":["POST"]}}"#.utf8))
        // The request names no channel, because the back end itself is in contact with the user.
        let answer = try await start.restApi.response {
            $0.sendApiRequest(with: link, bodyParams: ["username": username], method: .post, completion: $1)
        }
        return try start.responseHandler.createAuthStatus(basedOn: answer, and: start)
    }

    func signIn(username: String, password: String) async throws -> OktaAuthStatus {
        try await other.signIn(username: username, password: password)
    }
    func unlockAccount(username: String, by way: OktaRecoveryFactors) async throws -> OktaAuthStatus {
        try await other.unlockAccount(username: username, by: way)
    }
    func goOn(with token: String, of kind: ClassicTokenKind) async throws -> OktaAuthStatus { try await other.goOn(with: token, of: kind) }
    func text(ofPicture picture: URL) async -> String? { await other.text(ofPicture: picture) }
    func finish(sessionToken: String) async throws -> Bool { try await other.finish(sessionToken: sessionToken) }
    func signOut() async throws { try await other.signOut() }
}

/// A transport that adds the back end's token to each request.
private final class BackEndHTTP: OktaHTTPRequestListenerProtocol {
    typealias Completion = (Data?, URLResponse?, (any Error)?) -> Void

    /// A closure that is transferred to the thread of the response. `@unchecked Sendable` is safe because the closure is called exactly
    /// once, on that thread.
    private struct Answer: @unchecked Sendable {
        let call: Completion
    }

    private let token: String

    init(token: String) {
        self.token = token
    }

    func sendRequest(_ request: URLRequest, completionHandler: @escaping Completion) {
        var request = request
        request.setValue("SSWS \(token)", forHTTPHeaderField: "Authorization")
        let answer = Answer(call: completionHandler)
        URLSession.shared.dataTask(with: request) { answer.call($0, $1, $2) }.resume()
    }
}
