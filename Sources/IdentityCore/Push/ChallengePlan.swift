package import Foundation

/// A push challenge and the enrollments of the devices that receive it.
package struct ChallengePlan: Sendable {
    /// Seconds for which the user can respond.
    package static let lifetime: TimeInterval = 300

    package let challenge: PushChallenge
    let enrollments: [Enrollment]

    /// The purpose and the constraints of a challenge.
    package struct Question {
        var application: Application
        var transactionType = PushMethod.TransactionType.login
        var bindingMessage: String?
        /// The id of the authenticator that is preferred if the user has enrolled in it; `nil` for none.
        var preferredAuthenticator: String?
        var lifetime = ChallengePlan.lifetime
        var asker = PushChallenge.Asker.entitled
        /// The origin that started the sign-in; `nil` for a back-channel request.
        var askedFrom: RequestOrigin?
        /// Whether this challenge alone must prove two factors.
        var mustVerifyUser = false
    }

    /// Plans a challenge for the user's usable enrollments that are suitable. Throws ``Refusal`` with `access_denied` and status 403
    /// if none is suitable.
    init(
        _ question: Question, to user: User, enrollments: [Enrollment], snapshot: OrgSnapshot, random: any RandomSource,
        context: RequestContext
    ) throws {
        var able = enrollments.filter { $0.push?.transactionTypes.contains(question.transactionType) == true }
        let preferred = able.filter { $0.push?.authenticatorID == question.preferredAuthenticator }
        if !preferred.isEmpty { able = preferred }
        guard !able.isEmpty else { throw Self.unusable("no device is enrolled for it") }
        // An enrollment without the required key (lost, or older than the policy) does not prove enough.
        able = able.filter { enrollment in
            guard let push = enrollment.push, let authenticator = snapshot.authenticator(push.authenticatorID) else { return false }
            return authenticator.userVerification != .required || push.userVerification != nil
        }
        guard !able.isEmpty else { throw Self.unusable("no device has the user verification key that the authenticator requires") }
        if question.mustVerifyUser { able = able.filter { $0.push?.userVerification != nil } }
        guard !able.isEmpty else { throw Self.unusable("no device can verify the user, and the policy requires two factors") }

        let fingerprint = SignInOrigin.fingerprint(
            of: context, application: question.application, isBackEnd: question.askedFrom?.isBackEnd == true)
        let isRisky = !SignInOrigin.isKnown(fingerprint, to: user)
        let authenticators = Set(able.compactMap(\.push?.authenticatorID)).compactMap(snapshot.authenticator)
        // A back-channel client cannot show a number; the user compares the binding message instead.
        let needsNumber =
            question.transactionType == .login
            && authenticators.contains { $0.numberChallenge == .always || ($0.numberChallenge == .risky && isRisky) }
        if needsNumber { able = able.filter { $0.push?.answersNumbers == true } }
        guard !able.isEmpty else { throw Self.unusable("no device can answer a number challenge") }

        self.enrollments = able
        challenge = PushChallenge(
            transactionType: question.transactionType,
            targets: try able.compactMap { enrollment in
                guard let push = enrollment.push, let authenticator = snapshot.authenticator(push.authenticatorID) else { return nil }
                return try Self.target(enrollment.id, push, authenticator, mustVerifyUser: question.mustVerifyUser, random: random)
            }, bindingMessage: question.bindingMessage, numbers: needsNumber ? try Self.numbers(random) : nil,
            origin: SignInOrigin.description(of: context, application: question.application), asker: question.asker,
            askedFrom: question.askedFrom,
            fingerprint: question.transactionType == .login ? fingerprint : nil, createdAt: context.now,
            expiresAt: context.now.addingTimeInterval(question.lifetime))
    }

    private static func target(
        _ enrollmentID: String, _ push: PushMethod, _ authenticator: PushAuthenticator, mustVerifyUser: Bool, random: any RandomSource
    ) throws -> PushChallenge.Target {
        // A device without the key must not be asked to use it: the official app handles such a challenge badly.
        let verification: PushChallenge.UserVerification =
            if push.userVerification == nil { .discouraged } else if mustVerifyUser || authenticator.userVerification == .required {
                .required
            } else { .preferred }
        return PushChallenge.Target(
            id: try random.identifier(prefix: "ft"), enrollmentID: enrollmentID, methodID: push.id,
            nonce: try random.identifier(prefix: ""), userVerification: verification, methods: authenticator.methods)
    }

    /// Returns three different numbers from 10 to 99, one of which is correct.
    private static func numbers(_ random: any RandomSource) throws -> PushChallenge.Numbers {
        var choices: [String] = []
        while choices.count < 3 {
            // 180 is the largest multiple of 90 in a byte; larger values would favour the first numbers.
            for byte in try random.bytes(8) where byte < 180 && choices.count < 3 {
                let number = String(10 + Int(byte % 90))
                if !choices.contains(number) { choices.append(number) }
            }
        }
        var place: UInt8
        repeat { place = try random.bytes(1)[0] } while place >= 255
        return PushChallenge.Numbers(choices: choices, right: choices[Int(place % 3)])
    }

    /// Returns the refusal of a challenge to a user who has no suitable device, or whom the policy excludes.
    package static func unusable(_ reason: String) -> Refusal {
        Refusal(
            .accessDenied, "The authenticator cannot be used: it is not set up for this user, or the policy excludes it.",
            reason: "challenge: \(reason)", status: .forbidden)
    }
}
