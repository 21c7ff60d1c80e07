internal import Foundation

/// Setting up a factor in a classic sign-in (authn reference 4.5 and 4.6): the same ceremony as elsewhere, with what was proved so far as
/// its permission.
extension IdentityEngine {
    /// Begins to set up a factor.
    ///
    /// - Parameters:
    ///   - request: Which, and what it is made of.
    ///   - stateToken: Leads to the sign-in.
    ///   - context: When and from where it came.
    /// - Returns: Where the sign-in stands; or a refusal: `E0000001` for a factor that cannot be set up, `E0000079` where none is to be.
    /// - Throws: ``StoreError`` if the store failed.
    public func classicEnroll(
        _ request: ClassicEnrollmentRequest, stateToken: String, context: RequestContext
    ) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        // Asked once, however often the step is tried: what takes codes once would refuse its own.
        var judged: TokenVerdict?
        return try await classicStep(stateToken, context: context) { [self] state in
            guard state.status(of: state.transaction) == .factorEnroll else {
                throw ClassicRefusal.notAllowed(in: state.status(of: state.transaction)?.rawValue ?? "none")
            }
            if ["webauthn", "u2f", "web"].contains(request.type) { throw ClassicRefusal.notSupported }
            let factor = state.offered.first { $0.wireName.type == request.type && $0.wireName.provider == request.provider }
            guard let factor, !state.held.contains(factor) else {
                throw ClassicRefusal.invalid(
                    "factorEnrollRequest", ["factorType: This factor is set up already, or cannot be set up. Choose one of those listed."])
            }
            guard let authentication = state.provedSoFar,
                context.now.timeIntervalSince(authentication.time) <= EnrollmentPermission.freshness
            else { throw ClassicRefusal.invalidToken("authn: proved too long ago to set anything up") }
            if let channel = factor.channel { return try await enroll(channel, request, state, context: context) }
            if factor == .question { return try await enrollQuestion(request, state, context: context) }
            if factor == .push { return try await beginPhone(state, methodID: nil, context: context) }
            if let provider = factor.tokenProvider {
                return try await enroll(provider, as: factor, request, state, &judged, context: context)
            }
            let provider: TOTPProvider = factor == .oktaTOTP ? .okta : .google
            switch try await beginTOTPEnrollment(authentication, provider: provider, context: context) {
            case .failure(let refusal): throw ClassicRefusal.invalidToken(refusal.reason)
            case .success(let offer):
                var next = state.transaction
                next.classic?.enrolling = offer.id
                next = next.extended(now: context.now) ?? next
                guard try await store.commit([state.stored.writing(next)]) == .committed else { return nil }
                let after = try await classicState(stateToken, context: context)
                return try await show(after.transaction, of: after, context: context)
            }
        }
    }

    /// Shows by a code that a factor which was begun to be set up works: from then on it is the person's.
    ///
    /// - Parameters:
    ///   - factorID: The factor, from the path.
    ///   - passCode: The code as it was typed; nil if none was given.
    ///   - stateToken: Leads to the sign-in.
    ///   - context: When and from where it came.
    /// - Returns: Where the sign-in stands; or a refusal: `E0000068` for a wrong code, `E0000047` for too many of them.
    /// - Throws: ``StoreError`` if the store failed.
    public func classicActivate(
        factorID: String, passCode: String?, stateToken: String, context: RequestContext
    ) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        var counted = false
        return try await classicStep(stateToken, context: context) { [self] state in
            if let phone = try state.phone() { return try await restart(phone, named: factorID, state, context: context) }
            guard state.status(of: state.transaction) == .factorEnrollActivate, let pending = state.pending?.enrollment else {
                throw ClassicRefusal.notAllowed(in: state.status(of: state.transaction)?.rawValue ?? "none")
            }
            guard pending.classicID == factorID else { throw ClassicRefusal.unknownFactor }
            guard let passCode else { throw ClassicRefusal.missing("passCode") }
            if !counted {
                counted = true
                try countClassicAttempt(state, context: context)
                let tries = rateLimiter.count(.challenge(pending.id), limit: Self.mostActivations, now: context.now)
                guard tries.isAdmitted else { throw ClassicRefusal.tooManyRequests(tries, reason: "activation codes") }
            }
            guard pending.totp != nil else { return try await confirm(pending, by: passCode, state, context: context) }
            guard let authentication = state.provedSoFar else { throw ClassicRefusal.invalidToken("authn: nothing is proved") }
            let writes = try await store.read { [self] view -> Writes? in
                do {
                    return try AuthenticatorAppSetup(authentication, isBegun: true, view, snapshot(view), environment, now: context.now)
                        .confirmation(id: pending.id, code: passCode)
                } catch is Refusal {
                    return nil
                }
            }
            guard let writes else { throw ClassicRefusal.wrongCode }
            let verifier = TOTPVerifier(environment: environment, enrollments: [], now: context.now)
            return try await setUp(verifier, as: .of(pending) ?? .totp, state, writes: writes, context: context)
        }
    }

    /// Codes that can be tried to activate a factor, in a minute.
    private static let mostActivations = 5

    /// What the picture shows by which an app is set up.
    ///
    /// - Parameters:
    ///   - userID: The person, from the path.
    ///   - factorID: The factor, from the path.
    ///   - token: The last part of the path, which only they know who set the factor up.
    ///   - context: When and from where it came.
    /// - Returns: The text to draw; nil if there is none, or it is too late.
    /// - Throws: ``StoreError`` if the store failed.
    public func classicPicture(
        userID: String, factorID: String, token: String, context: RequestContext
    ) async throws -> String? {
        if let picture = try await phonePicture(userID: userID, factorID: factorID, token: token, context: context) { return picture }
        guard let signIn = PendingFactor.signIn(ofPictureToken: token, of: factorID, environment: environment) else { return nil }
        return try await store.read { [self] view in
            // The seed is shown only while its sign-in waits for the first code.
            guard let waiting = try view.record(.transaction, id: signIn).map(StoredTransaction.init)?.value, waiting.end == nil,
                context.now < waiting.expiresAt, waiting.userID == userID, waiting.classic?.enrolling == factorID,
                let user = try user(id: userID, in: view)?.value, user.status == .active, waiting.isAbout(user),
                let record = try view.record(.enrollment, id: factorID)
            else { return nil }
            return try PendingFactor(
                Enrollment(record), of: user, in: signIn, organization: snapshot(view).organization.name, environment: environment,
                now: context.now
            )?.offer?.uri
        }
    }
}

extension ClassicState {
    /// What was proved, as the ceremony wants to know it.
    var provedSoFar: AuthenticationContext? {
        transaction.proofs.last.map { AuthenticationContext(userID: user.value.id, time: $0.time, methods: transaction.methods) }
    }

    /// What is asked of the person once they have one more factor.
    func subject(having factor: ClassicPolicy.Factor) -> SignInTransaction.Subject {
        var after = subject
        var classic = classic
        classic.enrolled += 1
        if factor != .question { after.canEnroll = false }
        after.offer = policy.offer(having: held.union([factor]), classic)
        after.secondFactorGrantTypes = Set(after.secondFactorGrantTypes + factor.kind.secondFactorGrantTypes).sorted()
        return after
    }
}

extension ClassicRefusal {
    /// A factor that the reference knows, and this server does not (yet).
    static let notSupported = ClassicRefusal(
        code: "E0000015", status: 401, summary: "This organization does not offer this factor. Choose one of those listed.",
        reason: "authn: factor is not supported")

    /// A member that this request cannot do without.
    static func missing(_ name: String) -> ClassicRefusal {
        ClassicRefusal(
            code: "E0000028", status: 400, summary: "The request is missing a required parameter.",
            causes: ["\(name): The member must be there."], reason: "authn: \(name) is missing")
    }
}
