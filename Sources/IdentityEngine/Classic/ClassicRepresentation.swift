internal import Foundation
internal import JOSE

/// How a classic sign-in looks to its client.
extension ClassicState {
    /// Where a transaction of this sign-in stands; throws ``ClassicRefusal`` if it stands nowhere that the client could go on from.
    func representation(of transaction: SignInTransaction, now: Date) throws -> ClassicTransaction {
        guard let status = status(of: transaction) else { throw ClassicRefusal.invalidToken("authn: nothing is asked for") }
        var shown = ClassicTransaction(status)
        shown.stateToken = token
        shown.expiresAt = transaction.expiresAt
        shown.relayState = classic.relayState
        shown.user = ClassicPerson(user.value)
        shown.canCancel = true
        switch status {
        case .factorRequired:
            shown.factors = presentable.map { factor($0) }
            shown.remembering = remembering
        case .factorChallenge:
            guard let selected = selected(in: transaction) else { break }
            shown.factor = factor(selected)
            shown.remembering = remembering
            shown.canReturn = true
            shown.factorResult = result(of: selected, in: transaction, now: now)
            shown.canResend = selected.push != nil
            shown.next = shown.factorResult == .waiting ? .poll : .verify
            if shown.factorResult == .waiting, let right = transaction.challenge?.numbers?.right {
                shown.factor?.correctAnswer = Int(right)
            }
        default: break
        }
        return shown
    }

    /// A factor that is set up.
    func factor(_ enrollment: Enrollment) -> ClassicFactor {
        var profile = ["credentialId": user.value.login]
        guard let push = enrollment.push else {
            return ClassicFactor(id: enrollment.classicID, type: "token:software:totp", provider: "GOOGLE", profile: profile)
        }
        let device = devices[push.deviceID]?.profile ?? [:]
        profile["name"] = device["displayName"] ?? "Device"
        profile["platform"] = device["platform"]
        profile["version"] = device["osVersion"]
        profile["deviceType"] = Self.deviceType(device["platform"])
        return ClassicFactor(id: enrollment.classicID, type: "push", provider: "OKTA", profile: profile)
    }

    private static func deviceType(_ platform: String?) -> String {
        switch platform {
        case "IOS": "SmartPhone_IPhone"
        case "ANDROID": "SmartPhone_Android"
        default: "SmartPhone"
        }
    }

    private var remembering: ClassicRemembering {
        switch policy.remembering {
        case .never: ClassicRemembering(isAllowed: false, isDefault: false, minutes: 0)
        case .device: ClassicRemembering(isAllowed: true, isDefault: false, minutes: 0)
        case .time(let minutes): ClassicRemembering(isAllowed: true, isDefault: false, minutes: minutes)
        }
    }
}
