internal import Foundation
internal import Store

/// Whether there are factors to set up when all that was asked for is proved.
package enum FactorOffer: Sendable, Equatable {
    case none
    /// Some that the person can leave for another time.
    case optional
    /// One that the policy wants everybody to have.
    case required
}

extension ClassicPolicy {
    /// A factor that people can set up at the classic API.
    package enum Factor: String, Sendable, Codable, CodingKeyRepresentable, CaseIterable {
        /// The codes of any authenticator app.
        case totp
        /// The codes of the app that takes pushes too, beside those of any app.
        case oktaTOTP = "okta_totp"
        /// An approval on a phone.
        case push
        /// A code by text.
        case sms
        /// A code by call.
        case call
        /// A code by mail.
        case email
        /// The answer to a question.
        case question
        /// A token that another system knows.
        case rsa, symantec
        /// A device whose codes follow a counter. An administrator gives it; people do not set it up.
        case hotp

        /// What the engine calls it.
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
            }
        }

        /// The way that its codes take; nil for one that sends none.
        package var channel: CodeChannel? { CodeChannel.allCases.first { $0.factor == kind } }

        /// The factor that an enrolment is of.
        package static func of(_ enrollment: Enrollment) -> Factor? {
            allCases.first { factor in
                factor.kind == enrollment.factor
                    && (enrollment.totp?.provider.rawValue ?? enrollment.token?.provider.rawValue ?? factor.wireName.provider)
                        == factor.wireName.provider
            }
        }

        /// What the protocol calls it (authn reference 5.1).
        package var wireName: (type: String, provider: String) {
            switch self {
            case .totp: ("token:software:totp", "GOOGLE")
            case .oktaTOTP: ("token:software:totp", "OKTA")
            case .rsa: ("token", "RSA")
            case .symantec: ("token", "SYMANTEC")
            case .hotp: ("token:hotp", "CUSTOM")
            case .push: ("push", "OKTA")
            default: (rawValue, "OKTA")
            }
        }
    }

    /// Whether people set a factor up.
    package enum Enrolling: String, Sendable, Codable {
        /// Everybody, when they next sign in.
        case required = "REQUIRED"
        /// Whoever wants to.
        case optional = "OPTIONAL"
        /// Nobody.
        case notAllowed = "NOT_ALLOWED"
    }

    /// Those that can be set up in a sign-in now.
    static let available = Set(Factor.allCases).subtracting([.hotp])

    /// Those that can be set up where the policy says nothing: they need no delivery, and nobody else knows them.
    private static let standard: Set<Factor> = [.totp, .push]

    /// What the policy says of a factor.
    package func enrolling(_ factor: Factor) -> Enrolling {
        guard Self.available.contains(factor) else { return .notAllowed }
        return factors[factor] ?? (Self.standard.contains(factor) ? .optional : .notAllowed)
    }

    /// What there is to set up for a person with these factors.
    package func offer(having held: Set<Factor>, _ classic: ClassicSignIn) -> FactorOffer {
        let missing = Factor.allCases.filter { !held.contains($0) }
        if missing.contains(where: { enrolling($0) == .required }) { return .required }
        guard missing.contains(where: { enrolling($0) == .optional }) else { return .none }
        // Whoever set up what they had to may go on with the rest; nobody else is asked at every sign-in.
        let isOffered = classic.enrolled > 0 ? classic.enrollsOptional : offersOptional && held.isEmpty
        return isOffered ? .optional : .none
    }
}

extension SignInTransaction {
    /// Whether there are factors to set up before the sign-in is finished; `nil` if there are none.
    func offerRequirement(of subject: Subject) -> Requirement? {
        guard let classic, subject.offer != .none, subject.offer == .required || !classic.skipsEnrollment else { return nil }
        return .enrollmentOffer(canSkip: subject.offer == .optional)
    }
}

extension OrgSnapshot {
    /// What holds at the classic API for a person: a phone is set up only in an authenticator whose app can take the ticket.
    package func classicPolicy(for user: User) -> ClassicPolicy? {
        var policy = organization.classic
        if phoneAuthenticators(for: user).isEmpty { policy?.factors[.push] = .notAllowed }
        return policy
    }
}

extension StoreView {
    /// What a classic sign-in asks of a person beyond what every sign-in asks.
    func classic(
        _ subject: SignInTransaction.Subject, of transaction: SignInTransaction, snapshot: OrgSnapshot
    ) throws -> SignInTransaction.Subject {
        guard let classic = transaction.classic, let policy = snapshot.classicPolicy(for: subject.user) else { return subject }
        var subject = subject
        subject.warnsOfPassword = classic.warnsBeforeExpiry
        subject.canChangePassword = true
        let held = subject.enrollments.held
        subject.canEnroll =
            !held.contains(where: \.isStrong)
            && ClassicPolicy.Factor.allCases.contains { $0 != .question && policy.enrolling($0) != .notAllowed }
        if subject.decision.assurance == .twoFactors, let device = classic.device,
            let remembered = try rememberedDevice(of: subject.user.id, device: device),
            // As it was when the sign-in began: nobody is asked for more in the middle of it.
            remembered.counts(for: subject.user, under: policy, at: transaction.createdAt)
        {
            subject.decision.assurance = .oneFactor
            subject.decision.reason += "; the device is remembered"
        }
        let usable = subject.enrollments.usable.filter(\.isStrong)
        subject.offer = policy.offer(having: Set(held.compactMap(ClassicPolicy.Factor.of)), classic)
        guard held.contains(where: \.isStrong), subject.offer != .none else { return subject }
        // A stolen password adds no key where there is one already: who has a factor proves it first, or sets nothing up.
        // The answer to a question is no proof of that.
        let classes = transaction.factorClasses
        let isProved = !classes.isDisjoint(with: [.possession, .inherence])
        if usable.isEmpty || (!isProved && (subject.offer == .optional || classes.count > 1)) {
            subject.offer = .none
        } else {
            subject.demandsTwoFactors = true
        }
        return subject
    }
}

extension ClassicPolicy.Factor {
    /// The provider of the token; `nil` for every other factor.
    package var tokenProvider: TokenProvider? {
        switch self {
        case .rsa: .rsa
        case .symantec: .symantec
        default: nil
        }
    }
}
