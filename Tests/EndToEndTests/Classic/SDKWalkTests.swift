import CountersignSandbox
import Foundation
import OktaAuthSdk
import TestSupport
import Testing

/// Takes every edge in the table of Documentation/Protocol/Authn.md §3.4 with the SDK, over HTTP.
@MainActor
@Suite("Every transition of the classic state machine, with the SDK", .timeLimit(.minutes(10)))
struct SDKWalkTests {
    @Test("The SDK visits every documented transition, status and factor of the classic API over HTTP")
    func walk() async throws {
        let coverage = SDKCoverage()
        try await PasswordWalk.run(coverage)
        try await FactorWalk.run(coverage)
        try await EnrollmentWalk.run(coverage)
        try await PhoneEnrollmentWalk.run(coverage)
        try await TokenWalk.run(coverage)
        try await RecoveryWalk.run(coverage)
        Attachment.record(coverage.text, named: "classic-sdk-coverage.txt")
        let known = ClassicTable.edges
        #expect(known.subtracting(coverage.edges).isEmpty, "\(known.subtracting(coverage.edges))")
        #expect(coverage.edges.subtracting(known).isEmpty, "\(coverage.edges.subtracting(known))")
        #expect(coverage.steps == SDKCoverage.steps)
        let codes: Set = [
            "E0000004", "E0000011", "E0000014", "E0000068", "E0000069", "E0000079", "E0000080", "E0000082", "E0000083", "E0000087",
        ]
        #expect(coverage.codes == codes)
    }
}

/// Signs in with correct, wrong, expired and changed passwords.
@MainActor
private enum PasswordWalk {
    private static let aging = "password_policy:\n  age:\n    maximum_days: 90\n    warning_days: 5\n"
    private static let new = "Another-Horse-8"

    static func run(_ coverage: SDKCoverage) async throws {
        try await SDKWalk.with("sign_on_policy: one-factor", more: aging, coverage) { walk in
            try await walk.signIn(to: OktaAuthStatusSuccess.self, can: "")
            walk.sandbox.advance(by: 86 * 86_400)
            let warned = try await walk.signIn(to: OktaAuthStatusPasswordWarning.self, can: "cancel change skip")
            #expect(warned.passwordExpiration?.passwordExpireDays == 4)
            try await walk.step("skip", to: OktaAuthStatusSuccess.self, can: "") { try await warned.skipPasswordChange() }
            let again = try await walk.signIn(to: OktaAuthStatusPasswordWarning.self, can: "cancel change skip")
            try await walk.refused("E0000014") { try await again.changePassword(oldPassword: "wrong", newPassword: new) }
            try await walk.step("change password", to: OktaAuthStatusSuccess.self, can: "") {
                try await again.changePassword(oldPassword: SDKWalk.password, newPassword: new)
            }
            walk.sandbox.advance(by: 90 * 86_400)
            let expired = try await walk.signIn(new, to: OktaAuthStatusPasswordExpired.self, can: "cancel change")
            try await walk.step("change password", to: OktaAuthStatusSuccess.self, can: "") {
                try await expired.changePassword(oldPassword: new, newPassword: "A-Third-Horse-9")
            }
        }
        try await SDKWalk.with("sign_on_policy: one-factor\nfactors: { totp: required }", more: aging, coverage) { walk in
            walk.sandbox.advance(by: 90 * 86_400)
            let expired = try await walk.signIn(to: OktaAuthStatusPasswordExpired.self, can: "cancel change")
            try await walk.step("change password", to: OktaAuthStatusFactorEnroll.self, can: "cancel") {
                try await expired.changePassword(oldPassword: SDKWalk.password, newPassword: new)
            }
            try await walk.cancel()
        }
    }
}

/// Uses enrolled factors: requests, answers, resends, abandons and mistypes challenges.
@MainActor
private enum FactorWalk {
    private static let waiting = "cancel poll resend return verify"
    private static let asked = "cancel return verify"

    static func run(_ coverage: SDKCoverage) async throws {
        let aging = "password_policy:\n  age:\n    maximum_days: 90\n"
        try await SDKWalk.with("sign_on_policy: two-factors", more: aging, coverage) { walk in
            let phone = try await walk.sandbox.phone(for: SDKWalk.jane)
            let app = try await walk.sandbox.authenticatorApp(for: SDKWalk.jane)
            try await first(walk, phone, app)
            try await codes(walk, app)
            try await locked(walk, app)
        }
    }

    private static func begin(_ walk: SDKWalk) async throws -> (OktaAuthStatusFactorRequired, OktaFactorPush, OktaFactorTotp) {
        let status = try await walk.signIn(to: OktaAuthStatusFactorRequired.self, can: "cancel")
        return (
            status, try status.availableFactors.first(.push, as: OktaFactorPush.self),
            try status.availableFactors.first(.TOTP, as: OktaFactorTotp.self)
        )
    }

    /// Completes one transaction that alternates between the code and the push.
    private static func first(_ walk: SDKWalk, _ phone: VirtualPhone, _ app: AuthenticatorApp) async throws {
        let (required, push, totp) = try await begin(walk)
        let typed = try await walk.step("verify without proof", to: OktaAuthStatusFactorChallenge.self, can: asked, with: .TOTP) {
            try await required.selectFactor(totp)
        }
        try await walk.refused("E0000068") { try await typed.verifyFactor(passCode: app.wrongCode) }
        let pushed = try await walk.step("another factor", to: OktaAuthStatusFactorChallenge.self, can: waiting, with: .push) {
            try await push.select()
        }
        #expect(pushed.factorResult == .waiting)
        let asking = try #require(pushed.factor as? OktaFactorPush)
        try await walk.step("poll", to: OktaAuthStatusFactorChallenge.self, can: waiting, with: .push) {
            try await asking.checkFactorResult()
        }
        let before = try await phone.pending()
        walk.sandbox.advance(by: 31)
        try await walk.step("resend", to: OktaAuthStatusFactorChallenge.self, can: waiting, with: .push) {
            try await pushed.resendFactor()
        }
        #expect(try await phone.pending().map(\.id) != before.map(\.id))
        try await walk.step("previous", to: OktaAuthStatusFactorRequired.self, can: "cancel") { try await pushed.returnToPreviousStatus() }
        #expect(try await phone.pending().isEmpty)
        // Operations of an older status do not apply to this state.
        try await walk.refused("E0000079", on: "any | not listed | E0000079, unchanged") { try await pushed.returnToPreviousStatus() }
        try await walk.step("verify without proof", to: OktaAuthStatusFactorChallenge.self, can: waiting, with: .push) {
            try await push.select()
        }
        try await phone.approveNext(within: .patience)
        try await walk.step("poll", to: OktaAuthStatusSuccess.self, can: "", with: .push) { try await asking.checkFactorResult() }
    }

    /// Enters a code before a challenge, after it, and while a push waits.
    private static func codes(_ walk: SDKWalk, _ app: AuthenticatorApp) async throws {
        walk.sandbox.advance(by: 400)
        let (_, _, totp) = try await begin(walk)
        try await walk.step("verify with proof", to: OktaAuthStatusSuccess.self, can: "", with: .TOTP) {
            try await totp.select(passCode: app.code)
        }
        walk.sandbox.advance(by: 60)
        let (_, push, other) = try await begin(walk)
        try await walk.step("verify without proof", to: OktaAuthStatusFactorChallenge.self, can: waiting, with: .push) {
            try await push.select()
        }
        try await walk.step("another factor", to: OktaAuthStatusSuccess.self, can: "", with: .TOTP) {
            try await other.select(passCode: app.code)
        }
        walk.sandbox.advance(by: 60)
        let (required, _, third) = try await begin(walk)
        let typed = try await walk.step("verify without proof", to: OktaAuthStatusFactorChallenge.self, can: asked, with: .TOTP) {
            try await required.selectFactor(third)
        }
        try await walk.refused("E0000083") { try await typed.verifyFactor(passCode: app.code(after: -5)) }
        try await walk.step("verify with proof", to: OktaAuthStatusSuccess.self, can: "", with: .TOTP) {
            try await typed.verifyFactor(passCode: app.code)
        }
        walk.sandbox.advance(by: 90 * 86_400)
        let (_, _, late) = try await begin(walk)
        try await walk.step("verify with proof", to: OktaAuthStatusPasswordExpired.self, can: "cancel change", with: .TOTP) {
            try await late.select(passCode: app.code)
        }
        try await walk.cancel()
    }

    /// Enters wrong codes until the server ends the sign-in.
    private static func locked(_ walk: SDKWalk, _ app: AuthenticatorApp) async throws {
        let (_, _, totp) = try await begin(walk)
        for _ in 0..<4 { try await walk.refused("E0000068") { try await totp.select(passCode: app.wrongCode) } }
        try await walk.refused("E0000069", on: "any | too many failed proofs | E0000069", isOver: true) {
            try await totp.select(passCode: app.wrongCode)
        }
    }
}
