import CountersignSandbox
import Foundation
import OktaAuthSdk
import TestSupport
import Testing

/// Uses factors with codes: tokens of other providers, authenticator apps of two providers, and a counter-based device.
@MainActor
enum TokenWalk {
    private static let asked = "cancel return verify"

    static func run(_ coverage: SDKCoverage) async throws {
        for provider in SoftwareToken.Provider.allCases {
            let factors = "factors: { \(provider.rawValue.lowercased()): optional, totp: not_allowed, push: not_allowed }"
            try await SDKWalk.with("sign_on_policy: two-factors\n" + factors, coverage) { walk in try await token(walk, provider) }
        }
        try await SDKWalk.with(
            "sign_on_policy: two-factors\nfactors: { totp: required, okta_totp: optional, push: not_allowed }", coverage
        ) { walk in try await apps(walk) }
        try await SDKWalk.with(
            "sign_on_policy: two-factors\nfactors: { totp: not_allowed, push: not_allowed }",
            changing: { file in
                // The seed of RFC 4226, appendix D.
                file.replacing(
                    "    password: Correct-Horse-7\n",
                    with: "    password: Correct-Horse-7\n    hotp: { secret: GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ, credential_id: '4711' }\n")
            }, coverage
        ) { walk in try await counter(walk) }
    }

    /// Enrolls an external token, and signs in with and without a challenge request before the code.
    private static func token(_ walk: SDKWalk, _ provider: SoftwareToken.Provider) async throws {
        let maker = FactorProvider(raw: provider.rawValue)
        let token = try walk.sandbox.softwareToken(provider, for: SDKWalk.jane)
        let foreign = try walk.sandbox.softwareToken(provider, for: SandboxUser.john.login)
        let begun = try await walk.signIn(to: OktaAuthStatusFactorEnroll.self, can: "cancel")
        let offered = try begun.availableFactors.first(.token, as: OktaFactorToken.self)
        #expect(offered.factorProvider == maker && begun.canEnrollFactor(factor: offered))
        func enroll(_ token: SoftwareToken) async throws -> OktaAuthStatus {
            provider == .rsa
                ? try await offered.enroll(credentialId: token.credentialID, passCode: token.code)
                : try await offered.enroll(credentialId: token.credentialID, passCode: token.code, nextPassCode: token.nextCode)
        }
        try await walk.refused("E0000068") { try await enroll(foreign) }
        let used = token.code
        try await walk.step("enroll token", to: OktaAuthStatusSuccess.self, can: "", with: .token, of: maker) { try await enroll(token) }

        walk.sandbox.advance(by: 60)
        let required = try await walk.signIn(to: OktaAuthStatusFactorRequired.self, can: "cancel")
        let factor = try required.availableFactors.first(.token, as: OktaFactorToken.self)
        #expect(required.availableFactors.count == 1 && factor.factorProvider == maker && factor.credentialId == token.credentialID)
        let challenge = try await walk.step(
            "verify without proof", to: OktaAuthStatusFactorChallenge.self, can: asked, with: .token, of: maker
        ) { try await required.selectFactor(factor) }
        try await walk.refused("E0000068") { try await challenge.verifyFactor(passCode: used) }
        try await walk.step("verify with proof", to: OktaAuthStatusSuccess.self, can: "", with: .token, of: maker) {
            try await challenge.verifyFactor(passCode: token.code)
        }
        walk.sandbox.advance(by: 60)
        let again = try await walk.signIn(to: OktaAuthStatusFactorRequired.self, can: "cancel")
        let same = try again.availableFactors.first(.token, as: OktaFactorToken.self)
        try await walk.step("verify with proof", to: OktaAuthStatusSuccess.self, can: "", with: .token, of: maker) {
            try await same.select(passCode: token.code)
        }
    }

    /// Enrolls two authenticator apps. Each accepts only its own codes.
    private static func apps(_ walk: SDKWalk) async throws {
        let begun = try await walk.signIn(to: OktaAuthStatusFactorEnroll.self, can: "cancel")
        let google = try await app(.google, walk, begun)
        let offered = try await walk.step("activate", to: OktaAuthStatusFactorEnroll.self, can: "cancel skip", with: .TOTP) {
            try await google.factor.activate(passCode: google.app.code)
        }
        let okta = try await app(.okta, walk, offered)
        if okta.app.code != google.app.code {
            try await walk.refused("E0000068") { try await okta.factor.activate(passCode: google.app.code) }
        }
        try await walk.step("activate", to: OktaAuthStatusSuccess.self, can: "", with: .TOTP, of: .okta) {
            try await okta.factor.activate(passCode: okta.app.code)
        }
        for (provider, own, other) in [(FactorProvider.okta, okta.app, google.app), (.google, google.app, okta.app)] {
            walk.sandbox.advance(by: 60)
            let required = try await walk.signIn(to: OktaAuthStatusFactorRequired.self, can: "cancel")
            #expect(Set(required.availableFactors.map(\.provider)) == [.okta, .google])
            let factor = try #require(required.availableFactors.first { $0.provider == provider } as? OktaFactorTotp)
            let challenge = try await walk.step(
                "verify without proof", to: OktaAuthStatusFactorChallenge.self, can: asked, with: .TOTP, of: provider
            ) { try await required.selectFactor(factor) }
            if other.code != own.code { try await walk.refused("E0000068") { try await challenge.verifyFactor(passCode: other.code) } }
            try await walk.step("verify with proof", to: OktaAuthStatusSuccess.self, can: "", with: .TOTP, of: provider) {
                try await challenge.verifyFactor(passCode: own.code)
            }
        }
    }

    private static func app(
        _ provider: FactorProvider, _ walk: SDKWalk, _ begun: OktaAuthStatusFactorEnroll
    ) async throws -> (factor: OktaFactorTotp, app: AuthenticatorApp) {
        let factor = try #require(begun.availableFactors.first { $0.type == .TOTP && $0.provider == provider } as? OktaFactorTotp)
        let activate = try await walk.step(
            "enroll totp", to: OktaAuthStatusFactorEnrollActivate.self, can: "activate cancel return", with: .TOTP, of: provider
        ) { try await factor.enroll() }
        let totp = try #require(activate.factor as? OktaFactorTotp)
        #expect(totp.provider == provider)
        let secret = try #require(totp.activation?.sharedSecret)
        return (totp, try walk.sandbox.authenticatorApp(scanning: "otpauth://totp/Sandbox:\(SDKWalk.jane)?secret=\(secret)&issuer=Sandbox"))
    }

    /// Uses a counter-based device whose button was pressed without a sign-in.
    private static func counter(_ walk: SDKWalk) async throws {
        let type = FactorType.unknown("token:hotp")
        let custom = FactorProvider.unknown("CUSTOM")
        let device = try #require(walk.sandbox.users.first { $0.login == SDKWalk.jane }?.counterDevice)
        func code(_ press: Int64) throws -> String { try #require(device.code(press: press)) }
        #expect(try code(1) == "755224" && code(2) == "287082")

        let required = try await walk.signIn(to: OktaAuthStatusFactorRequired.self, can: "cancel")
        let factor = try required.availableFactors.first(type, as: OktaFactorOther.self)
        #expect(factor.provider == custom && !factor.canEnroll())
        let challenge = try await walk.step(
            "verify without proof", to: OktaAuthStatusFactorChallenge.self, can: asked, with: type, of: custom
        ) { try await required.selectFactor(factor) }
        try await walk.refused("E0000068") { try await challenge.verifyFactor(passCode: "000000") }
        try await walk.step("verify with proof", to: OktaAuthStatusSuccess.self, can: "", with: type, of: custom) {
            try await challenge.verifyFactor(passCode: code(2))
        }

        let again = try await walk.signIn(to: OktaAuthStatusFactorRequired.self, can: "cancel")
        let same = try again.availableFactors.first(type, as: OktaFactorOther.self)
        let link = try #require(same.links?.verify)
        func prove(_ press: Int64) async throws -> OktaAuthStatus {
            try await same.sendRequest(with: link, keyValuePayload: ["stateToken": again.stateToken, "passCode": code(press)])
        }
        try await walk.refused("E0000082") { try await prove(2) }
        // The server refuses this code like a wrong one. The next code shows that both are of the device, and is accepted.
        try await walk.refused("E0000068") { try await prove(60) }
        try await walk.step("verify with proof", to: OktaAuthStatusSuccess.self, can: "", with: type, of: custom) { try await prove(61) }
    }
}
