import CountersignSandbox
import Delivery
import Foundation
import OktaAuthSdk
import TestSupport
import Testing

/// Enrolls a phone during a sign-in, and activates users who have no password yet.
@MainActor
enum PhoneEnrollmentWalk {
    private static let waiting = "activate cancel poll return"

    static func run(_ coverage: SDKCoverage) async throws {
        try await SDKWalk.with("sign_on_policy: two-factors\nfactors: { push: optional, totp: not_allowed }", coverage) { walk in
            try await byLink(walk)
        }
        try await SDKWalk.with("sign_on_policy: one-factor\nfactors: { push: required, question: required }", coverage) { walk in
            let begun = try await walk.signIn(to: OktaAuthStatusFactorEnroll.self, can: "cancel")
            let push = try await begin(walk, begun)
            try await push.sendActivationLinkViaSms(with: "+49 30 5550123")
            try await scan(walk, by: .text)
            let next = try await walk.step("poll", to: OktaAuthStatusFactorEnroll.self, can: "cancel", with: .push) {
                try await push.checkFactorResult()
            }
            #expect(try next.availableFactors.first(.push, as: OktaFactorPush.self).status == "ACTIVE")
            try await walk.cancel()
        }
        try await SDKWalk.with("sign_on_policy: one-factor", coverage) { walk in
            let login = "new.person@example.com"
            try await walk.sandbox.add(SandboxUser(login: login, password: nil))
            let token = try await walk.sandbox.activationToken(for: login)
            let reset = try await walk.step("activation token", to: OktaAuthStatusPasswordReset.self, can: "cancel reset") {
                try await walk.start.authenticate(activationToken: token)
            }
            #expect(reset.model.recoveryType == .unknown("ACCOUNT_ACTIVATION") && reset.user?.profile?.login == login)
            let success = try await walk.step("reset password", to: OktaAuthStatusSuccess.self, can: "") {
                try await reset.resetPassword(newPassword: "First-Horse-1")
            }
            #expect(success.sessionToken != nil)
            #expect(try await walk.start.authenticate(username: login, password: "First-Horse-1") is OktaAuthStatusSuccess)
            let again = await classicRefusal { _ = try await walk.start.authenticate(activationToken: token) }
            #expect(again?.errorCode == "E0000004" && again?.statusCode == 401)
        }
        try await SDKWalk.with("sign_on_policy: one-factor", coverage) { walk in
            let person = SandboxUser(login: "staged.person@example.com", password: "Known-Horse-1", status: .staged)
            try await walk.sandbox.add(person)
            let early = await classicRefusal { _ = try await walk.start.authenticate(username: person.login, password: "Known-Horse-1") }
            #expect(early?.errorCode == "E0000004")
            let token = try await walk.sandbox.activationToken(for: person.login)
            let success = try await walk.step("activation token", to: OktaAuthStatusSuccess.self, can: "") {
                try await walk.start.authenticate(activationToken: token)
            }
            #expect(success.sessionToken != nil)
            #expect(try await walk.start.authenticate(username: person.login, password: "Known-Horse-1") is OktaAuthStatusSuccess)
        }
    }

    private static func begin(_ walk: SDKWalk, _ begun: OktaAuthStatusFactorEnroll) async throws -> OktaFactorPush {
        let factor = try begun.availableFactors.first(.push, as: OktaFactorPush.self)
        let activate = try await walk.step("enroll push", to: OktaAuthStatusFactorEnrollActivate.self, can: waiting, with: .push) {
            try await factor.enroll()
        }
        #expect(activate.factorResult == .waiting)
        return try #require(activate.factor as? OktaFactorPush)
    }

    /// Opens the sent link on the phone, as the user would.
    private static func scan(_ walk: SDKWalk, by channel: MessageChannel) async throws {
        let link = try #require(try await walk.sandbox.outbox.next(by: channel).link)
        _ = try await walk.sandbox.phone(for: SDKWalk.jane, scanning: link.absoluteString)
    }

    /// Takes an enrollment by link through all its ends: cancelled, restarted, expired, restarted, sent by mail, completed.
    private static func byLink(_ walk: SDKWalk) async throws {
        let begun = try await walk.signIn(to: OktaAuthStatusFactorEnroll.self, can: "cancel")
        let first = try await begin(walk, begun)
        let picture = try #require(first.qrCodeLink)
        #expect(picture.type == "image/png" && first.activationLinks?.qrcode == picture)
        #expect(try await walk.start.restApi.data(from: picture.href).starts(with: [0x89, 0x50, 0x4E, 0x47]))
        let back = try await walk.step("previous", to: OktaAuthStatusFactorEnroll.self, can: "cancel") {
            try await (try #require(walk.status)).returnToPreviousStatus()
        }
        let push = try await begin(walk, back)
        try await walk.step("poll", to: OktaAuthStatusFactorEnrollActivate.self, can: waiting, with: .push) {
            try await push.checkFactorResult()
        }
        for _ in 0..<3 {
            walk.sandbox.advance(by: 201)
            _ = try await push.checkFactorResult()
        }
        let late = try await walk.step("poll", to: OktaAuthStatusFactorEnrollActivate.self, can: waiting, with: .push) {
            try await push.checkFactorResult()
        }
        #expect(late.factorResult == .timeout && late.activateLink.name == "activate")
        let again = try await walk.step("activate", to: OktaAuthStatusFactorEnrollActivate.self, can: waiting, with: .push) {
            try await late.activateFactor(passCode: nil)
        }
        let shown = try #require(again.factor as? OktaFactorPush)
        #expect(again.factorResult == .waiting && shown.canSendPushCodeViaSms() && shown.canSendPushCodeViaEmail())
        try await walk.step("send link", to: OktaAuthStatusFactorEnrollActivate.self, can: waiting, with: .push) {
            try await shown.sendActivationLinkViaEmail()
            return try await OktaAuthSdk.fetchStatus(with: again.stateToken, using: walk.sandbox.origin)
        }
        try await scan(walk, by: .mail)
        // The guide keeps polling the first factor object, so it must stay usable.
        try await walk.step("poll", to: OktaAuthStatusSuccess.self, can: "", with: .push) { try await push.checkFactorResult() }
        let required = try await walk.signIn(to: OktaAuthStatusFactorRequired.self, can: "cancel")
        #expect(required.availableFactors.map(\.type) == [.push])
        try await walk.cancel()
    }
}
