import AuthFoundation
import CountersignSandbox
import Foundation
import OktaDirectAuth
import Testing

@Suite("Sign-in with a password")
struct SignInTests {
    @Test("A user signs in with a password and gets tokens that identify the user", arguments: Reach.allCases)
    func signIn(by reach: Reach) async throws {
        try await withSandbox { sandbox in
            let token = try await sandbox.signIn(with: sandbox.client(by: reach))
            #expect(token.tokenType == "Bearer")
            #expect(token.expiresIn == 3600)
            #expect(token.scope == ["openid", "profile", "email", "offline_access"])
            #expect(token.refreshToken != nil)
            let idToken = try #require(token.idToken)
            #expect(idToken.issuer == sandbox.issuer.absoluteString)
            #expect(idToken.audience == "password-app")
            #expect(idToken.preferredUsername == "jane.doe@example.com")
            #expect(idToken.name == "Jane Doe")
            #expect(idToken.authenticationMethods == [.passwordBased])
        }
    }

    @Test("A sign-in with a wrong password and a sign-in of an unknown user fail with the same error", arguments: Reach.allCases)
    func wrongPassword(by reach: Reach) async throws {
        try await withSandbox { sandbox in
            let client = sandbox.client(by: reach)
            let wrong = SandboxUser(login: SandboxUser.jane.login, password: "wrong-password")
            let unknown = SandboxUser(login: "unknown@example.com", password: "wrong-password")
            let first = await thrown { _ = try await sandbox.signIn(wrong, with: client) }
            let second = await thrown { _ = try await sandbox.signIn(unknown, with: client) }
            #expect(serverCode(of: first) == "invalid_grant")
            #expect(serverCode(of: second) == "invalid_grant")
            let text = try #require(first.map(technicalText(of:)))
            #expect(first?.localizedDescription == second?.localizedDescription)
            #expect(first.map(ErrorText.init(of:)) == .wrongPassword)
            #expect(text.contains("invalid_grant"))
            #expect(!text.contains("wrong-password"))
        }
    }

    @Test("An application that requires two factors rejects a password sign-in of a user who has no second factor")
    func secondFactor() async throws {
        try await withSandbox { sandbox in
            let error = await thrown { _ = try await sandbox.signIn(with: sandbox.client(.directAuth)) }
            #expect(serverCode(of: error) == "access_denied")
        }
    }

    @Test("A user added to a running sandbox can sign in immediately, and adding the user again replaces the password")
    func addedPerson() async throws {
        try await withSandbox { sandbox in
            try await sandbox.add(SandboxUser(login: "new@example.com", password: "First-Password-1"))
            _ = try await sandbox.signIn(SandboxUser(login: "new@example.com", password: "First-Password-1"))
            try await sandbox.add(SandboxUser(login: "new@example.com", password: "Second-Password-2"))
            let old = await thrown { _ = try await sandbox.signIn(SandboxUser(login: "new@example.com", password: "First-Password-1")) }
            #expect(serverCode(of: old) == "invalid_grant")
            _ = try await sandbox.signIn(SandboxUser(login: "new@example.com", password: "Second-Password-2"))
        }
    }

    static let expected: [(Forgery, JWTError)] = [
        (.badSignature, .signatureInvalid), (.otherKey, .signatureInvalid), (.algorithmNone, .unsupportedAlgorithm(.none)),
        (.otherAudience, .invalidAudience), (.otherIssuer, .invalidIssuer), (.wrongNonce, .nonceMismatch), (.expired, .expired),
        (.issuedInFuture, .issuedAtTimeExceedsGraceInterval), (.unknownKeyID, .invalidKey),
    ]

    @Test("The client rejects a forged ID token with an error that gives the reason, and stores no credential", arguments: expected)
    func forgedIDToken(_ forgery: Forgery, _ expected: JWTError) async throws {
        try await withSandboxAndStore { sandbox in
            sandbox.inject(Fault(.forgedIDToken(forgery), at: .token))
            let error = await thrown { try Credential.store(try await sandbox.signIn()) }
            #expect(error as? JWTError == expected)
            #expect(Credential.allIDs.isEmpty)
            // The same sign-in without the forgery succeeds, so the forgery caused the failure.
            _ = try await sandbox.signIn()
        }
    }

    @Test("The tests of forged ID tokens cover every kind of forgery")
    func allForgeries() {
        #expect(Set(Self.expected.map(\.0)) == Set(Forgery.allCases))
    }
}
