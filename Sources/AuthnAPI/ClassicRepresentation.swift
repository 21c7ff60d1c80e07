internal import Foundation
internal import IdentityCore

/// The client's view of a classic sign-in.
extension ClassicState {
    /// Returns the client's view of a state of this sign-in; throws ``ClassicRefusal`` if the sign-in requires no input.
    func representation(of transaction: SignInTransaction) throws(ClassicRefusal) -> ClassicTransaction {
        guard let status = status(of: transaction) else { throw ClassicRefusal.invalidToken("authn: nothing is asked for") }
        var shown = ClassicTransaction(status)
        shown.stateToken = token
        shown.expiresAt = transaction.expiresAt
        shown.relayState = classic.relayState
        shown.user = status == .recoveryChallenge ? nil : ClassicPerson(user.value)
        shown.recoveryType = transaction.recovery?.kind.rawValue
        shown.canCancel = true
        switch status {
        case .factorRequired:
            shown.factors = presentable.map { factor($0) }
            shown.remembering = remembering
            let pushes = presentable.filter { $0.push != nil }.map(\.classicID)
            if !pushes.isEmpty {
                shown.remembering?.autoPush = Dictionary(
                    uniqueKeysWithValues: pushes.map { ($0, classic.autoPush?.contains($0) ?? false) })
            }
        case .factorChallenge:
            shown.remembering = remembering
            shown.canReturn = true
            guard let selected = selected(in: transaction) else {
                showPasskeys(in: &shown, transaction)
                break
            }
            shown.factor = factor(selected)
            if selected.passkey != nil {
                showPasskey(in: &shown, transaction)
                break
            }
            shown.factorResult = result(of: selected, in: transaction)
            shown.canResend = selected.push != nil || selected.sentCode != nil
            shown.next = shown.factorResult == .waiting ? .poll : .verify
            if shown.factorResult == .waiting, let right = transaction.challenge?.numbers?.right {
                shown.factor?.correctAnswer = Int(right)
            }
        case .passwordWarn, .passwordExpired:
            shown.next = .changePassword
            shown.passwordPolicy = snapshot.passwordPolicy
            if case .newPassword(.endsSoon(let days)) = transaction.requirement(for: subject) {
                shown.passwordExpireDays = days
                shown.canSkip = true
            }
        case .recoveryChallenge:
            shown.recoveryChannel = transaction.recovery?.channel
            shown.next = .verify
            shown.canResend = true
        case .recovery:
            shown.recoveryQuestion = question?.text
            shown.next = .answer
        case .passwordReset:
            shown.next = .resetPassword
            shown.passwordPolicy = snapshot.passwordPolicy
        case .factorEnroll:
            shown.factors = choices
            if transaction.requirement(for: subject) == .enrollmentOffer(canSkip: true) { shown.canSkip = true }
        case .factorEnrollActivate where transaction.phone != nil:
            shown.factor = phoneFactor(transaction)
            shown.factorResult = shown.factor?.activation?.result
            shown.canReturn = true
            shown.next = shown.factorResult == .waiting ? .pollActivation : .activate
        case .factorEnrollActivate where pendingPasskey(in: transaction) != nil:
            shown.factor = pendingPasskey(in: transaction).flatMap(passkeyFactor)
            shown.canReturn = true
            shown.next = .activate
        case .factorEnrollActivate:
            shown.factor = pending?.factor(self)
            shown.canReturn = true
            shown.next = .activate
            shown.canResend = pending?.enrollment.sentCode != nil
        default: break
        }
        return shown
    }

    /// The factors that the policy permits, enrolled or not.
    var offered: [ClassicPolicy.Factor] {
        ClassicPolicy.Factor.allCases.filter { factor in
            // A security question does not count as a second factor that the policy requires.
            if factor == .question, asked == .enrollment { return false }
            // With another factor, the user could not meet a policy that requires a passkey.
            if factor != .webauthn, asked == .enrollment, subject.decision.assurance == .phishingResistant { return false }
            return policy.enrolling(factor) != .notAllowed
        }
    }

    /// The client's view of the offered factors.
    private var choices: [ClassicFactor] {
        offered.map { choice in
            var factor = ClassicFactor(type: choice.wireName.type, provider: choice.wireName.provider, profile: [:])
            factor.enrolling = policy.enrolling(choice)
            factor.isSetUp = held.contains(choice)
            if choice == .webauthn { factor.count = (passkeyCount, PasskeySetup.most) }
            return factor
        }
    }

    /// Returns the client's view of an enrolled factor.
    func factor(_ enrollment: Enrollment) -> ClassicFactor {
        let name = ClassicPolicy.Factor.of(enrollment)?.wireName ?? (enrollment.factor.rawValue, "OKTA")
        func factor(_ profile: [String: String]) -> ClassicFactor {
            ClassicFactor(id: enrollment.classicID, type: name.0, provider: name.1, profile: profile)
        }
        if let code = enrollment.sentCode {
            return factor([code.destination.phoneNumber == nil ? "email" : "phoneNumber": code.destination.masked])
        }
        if let question = enrollment.question { return factor(["question": question.key, "questionText": question.text]) }
        if let token = enrollment.token { return factor(["credentialId": token.credentialID]) }
        if let passkey = enrollment.passkey {
            return factor(["credentialId": passkey.credentialID, "authenticatorName": passkey.name])
        }
        if let hotp = enrollment.hotp { return factor(["credentialId": hotp.credentialID]) }
        var profile = ["credentialId": user.value.login]
        guard let push = enrollment.push else { return factor(profile) }
        let device = devices[push.deviceID]?.profile ?? [:]
        profile["name"] = device["displayName"] ?? "Device"
        profile["platform"] = device["platform"]
        profile["version"] = device["osVersion"]
        profile["deviceType"] = Self.deviceType(device["platform"])
        return factor(profile)
    }

    private static func deviceType(_ platform: String?) -> String {
        switch platform {
        case "IOS": "SmartPhone_IPhone"
        case "ANDROID": "SmartPhone_Android"
        default: "SmartPhone"
        }
    }

    private var remembering: ClassicRemembering {
        let isDefault = remembered != nil
        return switch policy.remembering {
        case .never: ClassicRemembering(isAllowed: false, isDefault: false, minutes: 0)
        case .device: ClassicRemembering(isAllowed: true, isDefault: isDefault, minutes: 0)
        case .time(let minutes): ClassicRemembering(isAllowed: true, isDefault: isDefault, minutes: minutes)
        }
    }
}

extension ClassicPolicy.Factor {
    /// The factor type and the provider (Documentation/Protocol/Authn.md §5.1).
    var wireName: (type: String, provider: String) {
        switch self {
        case .totp: ("token:software:totp", "GOOGLE")
        case .oktaTOTP: ("token:software:totp", "OKTA")
        case .rsa: ("token", "RSA")
        case .symantec: ("token", "SYMANTEC")
        case .hotp: ("token:hotp", "CUSTOM")
        case .webauthn: ("webauthn", "FIDO")
        case .savedCode: ("token", "CUSTOM")
        default: (rawValue, "OKTA")
        }
    }
}
