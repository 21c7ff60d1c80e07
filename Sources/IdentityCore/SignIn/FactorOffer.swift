internal import Foundation
internal import Store

/// The offer to enroll factors after all required proofs.
package enum FactorOffer: Sendable, Equatable {
    case none
    /// The user can skip the enrollment.
    case optional
    /// The policy requires a factor that the user does not have.
    case required
}

extension ClassicPolicy {
    /// A factor of the classic API.
    package enum Factor: String, Sendable, Codable, CodingKeyRepresentable, CaseIterable {
        /// Codes of any authenticator app.
        case totp
        /// Codes of the app that also receives pushes.
        case oktaTOTP = "okta_totp"
        /// Approval on a phone.
        case push
        case sms
        case call
        case email
        case question
        /// A token that an external system verifies.
        case rsa, symantec
        /// A device with counter-based codes. Only administrators can assign such a device.
        case hotp
        /// A passkey or security key. A user can have several.
        case webauthn
        /// A recovery code that the user saved. The pages create the codes.
        case savedCode = "recovery_code"

        package var kind: FactorKind {
            switch self {
            case .totp, .oktaTOTP: .totp
            case .rsa, .symantec: .token
            case .hotp: .hotp
            case .push: .push
            case .sms: .sms
            case .call: .voice
            case .email: .email
            case .question: .question
            case .webauthn: .passkey
            case .savedCode: .savedCode
            }
        }

        /// The channel by which the factor's codes are sent; `nil` if the factor sends no codes.
        package var channel: CodeChannel? { CodeChannel.allCases.first { $0.factor == kind } }

        /// Returns the factor of an enrollment; `nil` if the classic API has no such factor.
        package static func of(_ enrollment: Enrollment) -> Factor? {
            switch (enrollment.totp?.provider, enrollment.token?.provider) {
            case (.okta?, _): .oktaTOTP
            case (_, .symantec?): .symantec
            default: allCases.first { $0.kind == enrollment.factor }
            }
        }
    }

    /// The policy for the enrollment of a factor.
    package enum Enrolling: String, Sendable, Codable {
        /// Every user must enroll the factor at the next sign-in.
        case required = "REQUIRED"
        case optional = "OPTIONAL"
        case notAllowed = "NOT_ALLOWED"
    }

    /// The factors that users can enroll during a sign-in.
    static let available = Set(Factor.allCases).subtracting([.hotp, .savedCode])

    /// The factors that are optional by default: they need no message delivery and no third party.
    private static let standard: Set<Factor> = [.totp, .push, .webauthn]

    /// Returns the policy for the enrollment of a factor.
    package func enrolling(_ factor: Factor) -> Enrolling {
        guard Self.available.contains(factor) else { return .notAllowed }
        return factors[factor] ?? (Self.standard.contains(factor) ? .optional : .notAllowed)
    }

    /// Returns the offer for a user with the factors `held`. `enrolled` is the number of factors enrolled in this sign-in.
    package func offer(having held: Set<Factor>, enrolled: Int, rules: DoorRules) -> FactorOffer {
        let missing = Factor.allCases.filter { !held.contains($0) }
        if missing.contains(where: { enrolling($0) == .required }) { return .required }
        guard missing.contains(where: { enrolling($0) == .optional }) else { return .none }
        // After an enrollment, the rules decide whether the optional factors are offered too. Otherwise, only a user without factors gets
        // the offer.
        let isOffered = enrolled > 0 ? rules.contains(.offersOptionalFactors) : offersOptional && held.isEmpty
        return isOffered ? .optional : .none
    }
}

extension SignInTransaction {
    /// Returns the requirement to enroll offered factors; `nil` if there is no offer, or the user skipped the offer.
    func offerRequirement(of subject: Subject) -> Requirement? {
        let isReplacing = hasProvedSavedCode && enrolledCount == 0 && subject.offer == .none
        let offer = isReplacing ? subject.offerAfterCode : subject.offer
        guard offer != .none, offer == .required || !skipsOffer else { return nil }
        return .enrollmentOffer(canSkip: offer == .optional)
    }
}

extension OrgSnapshot {
    /// Returns the classic policy for a user; `nil` if the API is off. Users can enroll push only with an authenticator whose app accepts
    /// enrollment tickets, and passkeys only if the organization has settings for passkeys.
    package func classicPolicy(for user: User) -> ClassicPolicy? {
        var policy = organization.classic
        if phoneAuthenticators(for: user).isEmpty { policy?.factors[.push] = .notAllowed }
        if organization.passkeys == nil { policy?.factors[.webauthn] = .notAllowed }
        return policy
    }
}

extension StoreView {
    /// Returns the subject with the additional requirements of the classic API.
    func forOrganization(
        _ subject: SignInTransaction.Subject, of transaction: SignInTransaction, snapshot: OrgSnapshot
    ) throws -> SignInTransaction.Subject {
        guard let policy = snapshot.classicPolicy(for: subject.user) else { return subject }
        var subject = subject
        let held = subject.enrollments.held
        subject.canEnroll =
            !subject.enrollments.protectsAccount
            && ClassicPolicy.Factor.allCases.contains { $0 != .question && policy.enrolling($0) != .notAllowed }
        subject.canEnrollPasskey = subject.canEnroll && policy.enrolling(.webauthn) != .notAllowed
        // A remembered device replaces a second factor, but not a required passkey.
        if subject.decision.assurance == .twoFactors, let device = transaction.presentedDevice?.digest,
            let remembered = try rememberedDevices(of: subject.user.id).first(where: { $0.device == device }),
            // The time is the start of the sign-in, so that an expiry during the sign-in adds no requirement.
            remembered.counts(for: subject.user, under: policy, at: transaction.createdAt)
        {
            subject.decision.assurance = .oneFactor
            subject.decision.reason += "; the device is remembered"
        }
        subject.offer = policy.offer(
            having: Set(held.compactMap(ClassicPolicy.Factor.of)).subtracting([.savedCode]), enrolled: transaction.enrolledCount,
            rules: transaction.rules)
        // A user who needs a recovery code may have lost every factor. The user can enroll any factor that is not enrolled yet, and further
        // passkeys.
        let isReplaceable = ClassicPolicy.Factor.allCases.contains {
            policy.enrolling($0) != .notAllowed && $0 != .question && ($0 == .webauthn || !held.map(\.factor).contains($0.kind))
        }
        subject.offerAfterCode = isReplaceable ? .optional : .none
        guard subject.enrollments.protectsAccount, subject.offer != .none else { return subject }
        // A stolen password alone must not permit an enrollment, so a user with a factor must prove one first. The answer to a security
        // question is not enough.
        let classes = transaction.factorClasses
        let isProved = !classes.isDisjoint(with: [.possession, .inherence])
        if !isProved, !subject.enrollments.hasUsableProtection || subject.offer == .optional || classes.count > 1 {
            subject.offer = .none
        } else {
            subject.demandsTwoFactors = true
        }
        return subject
    }
}

extension ClassicPolicy.Factor {
    package var tokenProvider: TokenProvider? {
        switch self {
        case .rsa: .rsa
        case .symantec: .symantec
        default: nil
        }
    }
}
