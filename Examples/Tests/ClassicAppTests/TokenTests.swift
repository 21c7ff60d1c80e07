import CountersignSandbox
import ExampleTestSupport
import Foundation
import OktaAuthSdk
import Testing

@testable import ClassicApp

@MainActor
@Suite("Authenticator apps and hardware tokens in the classic app", .timeLimit(.minutes(5)))
struct TokenTests {
    private static let mistyped = "The code or answer is wrong. Check it, then try again."

    @Test("In the classic app, a user can enroll two authenticator apps, and each factor accepts only the codes of its own app")
    func apps() async throws {
        let factors = "factors: { totp: required, okta_totp: optional, push: not_allowed }"
        try await withSandbox(.classic("sign_on_policy: two-factors\n" + factors)) { sandbox in
            let visit = ClassicVisit(sandbox)
            await visit.signIn()
            var apps: [String: AuthenticatorApp] = [:]
            for (title, name) in [
                ("Set up: Google Authenticator (required)", "Google Authenticator"), ("Set up: authenticator app", "authenticator app"),
            ] {
                try await visit.take(title)
                let uri = try #require(visit.model.symbolText)
                #expect(uri.hasPrefix("otpauth://totp/127.0.0.1:jane.doe@example.com?secret=") && uri.hasSuffix("&issuer=127.0.0.1"))
                let app = try sandbox.authenticatorApp(scanning: uri)
                apps[name] = app
                try await visit.take("Enter the code", ["code": app.code])
            }
            #expect(visit.model.stage == .done(hasTokens: false))
            for (own, other) in [("authenticator app", "Google Authenticator"), ("Google Authenticator", "authenticator app")] {
                sandbox.advance(by: 60)
                let again = ClassicVisit(sandbox)
                await again.signIn()
                #expect(Set(again.titles) == ["authenticator app", "Google Authenticator", "Cancel"])
                try await again.take(own)
                let (right, wrong) = (try #require(apps[own]?.code), try #require(apps[other]?.code))
                if wrong != right {
                    try await again.take("Enter the code", ["code": wrong])
                    #expect(again.model.errorMessage == Self.mistyped)
                    again.model.closeForm()
                }
                try await again.take("Enter the code", ["code": right])
                #expect(again.model.stage == .done(hasTokens: false))
            }
        }
    }

    @Test(
        "In the classic app, an external token device can be enrolled with its codes, and its next code completes a sign-in",
        arguments: SoftwareToken.Provider.allCases)
    func token(of provider: SoftwareToken.Provider) async throws {
        let factors = "factors: { \(provider.rawValue.lowercased()): optional, totp: not_allowed, push: not_allowed }"
        try await withSandbox(.classic("sign_on_policy: two-factors\n" + factors)) { sandbox in
            let token = try sandbox.softwareToken(provider, for: ClassicVisit.jane)
            let foreign = try sandbox.softwareToken(provider, for: SandboxUser.john.login)
            let visit = ClassicVisit(sandbox)
            await visit.signIn()
            func values(_ token: SoftwareToken) -> [String: String] {
                let values = ["credential": token.credentialID, "code": token.code]
                return provider == .symantec ? values.merging(["next": token.nextCode]) { $1 } : values
            }
            try await visit.take("Set up: token: \(provider.rawValue)", values(foreign))
            #expect(visit.model.errorMessage == Self.mistyped && visit.model.openAction != nil)
            visit.model.values = values(token)
            await visit.model.submit()
            #expect(visit.model.stage == .done(hasTokens: false))

            sandbox.advance(by: 60)
            let again = ClassicVisit(sandbox)
            await again.signIn()
            try await again.take("token: \(provider.rawValue)")
            try await again.take("Enter the code", ["code": token.code.otherCode])
            #expect(again.model.errorMessage == Self.mistyped)
            again.model.values["code"] = token.code
            await again.model.submit()
            #expect(again.model.stage == .done(hasTokens: false))
        }
    }

    @Test("In the classic app, each code of an HOTP device is accepted only once")
    func counter() async throws {
        // The seed of RFC 4226, appendix D.
        let device = "{ secret: GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ, credential_id: '4711' }"
        let settings = "sign_on_policy: two-factors\nfactors: { totp: not_allowed, push: not_allowed }"
        try await withSandbox(.classic(settings, device: device)) { sandbox in
            for (wrong, right) in [("000000", "755224"), ("755224", "359152")] {
                let visit = ClassicVisit(sandbox)
                await visit.signIn()
                try await visit.take("hardware token: 4711")
                #expect(visit.model.headline == "Confirm by hardware token: 4711")
                try await visit.take("Enter the code", ["code": wrong])
                #expect(visit.model.errorMessage?.isEmpty == false && visit.model.stage == .transaction(.MFAChallenge))
                visit.model.values["code"] = right
                await visit.model.submit()
                #expect(visit.model.stage == .done(hasTokens: false))
            }
        }
    }
}
