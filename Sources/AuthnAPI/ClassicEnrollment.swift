internal import Foundation
package import IdentityCore
internal import Store
internal import WebAuthn

/// The start of an enrollment, decided on one read of the store.
private enum SetupStep: Sendable {
    case code(CodeChannel)
    case question(key: String, answer: String)
    case phone(PhoneSetup)
    case token(TokenMethod, ClassicPolicy.Factor)
    case app(AuthenticatorAppSetup, TOTPProvider)
    case passkey(PasskeySetup)
}

/// The confirmation of an enrollment, decided on one read of the store.
private enum ActivationStep: Sendable {
    /// A phone whose ticket is still valid.
    case shownPhone
    /// A phone that gets a new ticket.
    case phone(PhoneSetup)
    case code(Enrollment, String)
    case app(Enrollment, Writes)
    case passkey(PendingPasskey, PasskeySetup, RegistrationResponse)
}

/// The enrollment of a factor in a classic sign-in (Documentation/Protocol/Authn.md §4.5 and §4.6). The proofs of the sign-in permit it.
extension Engine {
    /// Starts the enrollment of a factor.
    /// - Returns: The state; or a refusal: `E0000001` for a factor that cannot be enrolled, `E0000079` if no enrollment is requested.
    package func classicEnroll(
        _ request: ClassicEnrollmentRequest, stateToken: String, context: RequestContext
    ) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        try await classicStep(stateToken, context: context) { [self] state, view in
            try setup(request, state, view)
        } check: { [self] state, step in
            switch step {
            case .question(let key, let answer): questionCheck(key, answer: answer, state)
            case .token(let token, _): try check(request.passCode, next: request.nextPassCode, of: token, state)
            default: nil
            }
        } decide: { [self] state, step, verdict in
            switch step {
            case .code(let channel): return try enroll(channel, request, state)
            case .question: return try enrollQuestion(verdict?.get(), state)
            case .phone(let setup): return try state.begin(setup)
            case .token(let token, let factor): return try enroll(token, as: factor, verdict?.get(), state)
            case .app(let setup, let provider):
                let (offer, writes) = try setup.offer(of: provider)
                return try state.begin(offer.id, writes)
            case .passkey(let setup): return try state.begin(setup)
            }
        }
    }

    private func setup(_ request: ClassicEnrollmentRequest, _ state: ClassicState, _ view: any StoreView) throws -> SetupStep {
        try state.require(.factorEnroll)
        if ["u2f", "web"].contains(request.type) { throw ClassicRefusal.notSupported }
        let factor = state.offered.first { $0.wireName.type == request.type && $0.wireName.provider == request.provider }
        // A user can have several passkeys.
        guard let factor, factor == .webauthn || !state.held.contains(factor) else {
            throw ClassicRefusal.invalid(
                "factorEnrollRequest", ["factorType: This factor is set up already, or cannot be set up. Choose one of those listed."])
        }
        guard let authentication = state.provedSoFar, Enrollment.isFresh(authentication.time, at: state.context.now) else {
            throw ClassicRefusal.invalidToken("authn: proved too long ago to set anything up")
        }
        if let channel = factor.channel { return .code(channel) }
        if factor == .question {
            guard let key = request.question, let answer = request.answer else { throw ClassicRefusal.missing("answer") }
            return .question(key: key, answer: answer)
        }
        if factor == .webauthn { return .passkey(try state.passkeySetup()) }
        if factor == .push { return .phone(try phoneSetup(state, methodID: nil)) }
        if let provider = factor.tokenProvider { return .token(try token(of: provider, request, state), factor) }
        do {
            let setup = try AuthenticatorAppSetup(authentication, view, state.snapshot, environment, now: state.context.now)
            return .app(setup, factor == .oktaTOTP ? .okta : .google)
        } catch let refusal as Refusal {
            throw ClassicRefusal.invalidToken(refusal.reason)
        }
    }

    /// Confirms a new factor by its code, or a passkey by its registration, and enrolls it. For a phone, it renews an expired QR code.
    /// - Returns: The state; or a refusal: `E0000068` for a wrong code or registration, `E0000047` for too many.
    package func classicActivate(
        factorID: String, passCode: String?, registration: ClassicRegistration? = nil, stateToken: String, context: RequestContext
    ) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        try await classicStep(stateToken, context: context) { [self] state, view in
            guard let pending = state.pendingPasskey(in: state.transaction) else {
                return try activation(factorID, passCode, state, view)
            }
            return try self.registration(of: pending, factorID, registration, state, view)
        } check: { _, step -> Check<Result<VerifiedPasskey, PasskeyFailure>>? in
            guard case .passkey(let pending, let setup, let response) = step else { return nil }
            return setup.check(response, to: pending.challenge)
        } decide: { [self] state, step, verdict in
            switch step {
            case .shownPhone: return try state.show(state.transaction)
            case .phone(let setup): return try state.begin(setup)
            case .code(let pending, let code): return try confirm(pending, by: code, state)
            case .app(let pending, let writes):
                let verifier = TOTPVerifier(environment: environment, enrollments: [], now: context.now)
                return try state.setUp(verifier, as: .of(pending) ?? .totp, writes)
            case .passkey(let pending, let setup, _): return try state.setUp(pending, setup, verdict)
            }
        }
    }

    private func activation(
        _ factorID: String, _ passCode: String?, _ state: ClassicState, _ view: any StoreView
    ) throws -> ActivationStep {
        try state.require(.factorEnrollActivate)
        if let phone = state.phone {
            guard phone.methodID == factorID else { throw ClassicRefusal.unknownFactor }
            return state.context.now < phone.expiresAt ? .shownPhone : .phone(try phoneSetup(state, methodID: factorID))
        }
        guard let pending = state.pending?.enrollment, pending.classicID == factorID else { throw ClassicRefusal.unknownFactor }
        guard let passCode else { throw ClassicRefusal.missing("passCode") }
        try countActivation(of: pending.id, state)
        guard pending.totp != nil else { return .code(pending, passCode) }
        guard let authentication = state.provedSoFar else { throw ClassicRefusal.invalidToken("authn: nothing is proved") }
        do {
            let setup = try AuthenticatorAppSetup(
                authentication, isBegun: true, view, state.snapshot, environment, now: state.context.now)
            return .app(pending, try setup.confirmation(id: pending.id, code: passCode))
        } catch is Refusal {
            throw ClassicRefusal.wrongCode
        }
    }

    private func registration(
        of pending: PendingPasskey, _ factorID: String, _ registration: ClassicRegistration?, _ state: ClassicState, _ view: any StoreView
    ) throws -> ActivationStep {
        try state.require(.factorEnrollActivate)
        guard pending.id == factorID else { throw ClassicRefusal.unknownFactor }
        guard let registration else { throw ClassicRefusal.missing("attestation") }
        try countActivation(of: pending.id, state)
        let response: RegistrationResponse
        do throws(WebAuthnError) {
            response = try RegistrationResponse(
                clientDataJSON: registration.clientData, attestationObject: registration.attestation)
        } catch { throw ClassicRefusal.wrongPasskey("passkey: \(error)") }
        guard try !view.hasPasskey(response.id) else { throw ClassicRefusal.wrongPasskey("passkey: the credential is registered") }
        return .passkey(pending, try state.passkeySetup(), response)
    }

    /// Counts an attempt to activate a factor, once per request; throws ``ClassicRefusal`` over the limit.
    private func countActivation(of factorID: String, _ state: ClassicState) throws {
        try countClassicAttempt(state)
        guard !state.isRepeated else { return }
        let tries = rateLimiter.count(.challenge(factorID), limit: Self.mostActivations, now: state.context.now)
        guard tries.isAdmitted else { throw ClassicRefusal.tooManyRequests(tries, reason: "activation codes") }
    }

    /// The maximum number of attempts per minute to activate a factor.
    private static let mostActivations = 5

    /// Returns the content of the QR code that enrolls an app or a phone; `nil` for an unknown or expired QR code. `token` is the last
    /// component of the path, which is secret.
    package func classicPicture(
        userID: String, factorID: String, token: String, context: RequestContext
    ) async throws -> String? {
        if let picture = try await phonePicture(userID: userID, factorID: factorID, token: token, context: context) { return picture }
        guard let signIn = PendingFactor.signIn(ofPictureToken: token, of: factorID, environment: environment) else { return nil }
        return try await store.read {
            Lookup(.record(.transaction, id: signIn), .record(.user, id: userID), .record(.enrollment, id: factorID))
        } _: { [self] view in
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
    /// Plans the start of an enrollment. After the commit, the sign-in is read again for the response.
    func begin(_ enrollmentID: String, _ writes: Writes) throws -> ClassicPlan {
        var next = transaction
        next.classic?.enrolling = enrollmentID
        let change = try stored.writing(next.extended(now: context.now) ?? next)
        return Plan(.success(ClassicStepAnswer(.continues(token: token))), writes + [change])
    }

    /// Plans the end of an enrollment. The new factor counts as proved.
    func setUp(_ verifier: some FactorVerifier, as factor: ClassicPolicy.Factor, _ writes: Writes) throws -> ClassicPlan {
        var step = transaction.step(
            .enrolled(verifier.kind, verifier.factorClass, methods: verifier.methods, subject, after: subject(having: factor)),
            now: context.now)
        step.0.classic?.enrolling = nil
        return try conclude(step, writes: writes, wrong: .wrongCode)
    }

    /// The proofs of this sign-in, with the time of the last proof; `nil` before the first proof.
    var provedSoFar: AuthenticationContext? {
        transaction.proofs.last.map { AuthenticationContext(userID: user.value.id, time: $0.time, methods: transaction.methods) }
    }

    /// Returns the subject with one more enrolled factor.
    func subject(having factor: ClassicPolicy.Factor) -> SignInTransaction.Subject {
        var after = subject
        if factor != .question { after.canEnroll = false }
        after.offer = policy.offer(
            having: held.union([factor]), enrolled: transaction.enrolledCount + 1, rules: transaction.rules)
        after.secondFactors = Set(after.secondFactors + [factor.kind]).sorted { $0.rawValue < $1.rawValue }
        return after
    }
}

extension ClassicRefusal {
    /// The refusal of a factor that the server does not support (Documentation/Protocol/Authn.md §4.5).
    static let notSupported = ClassicRefusal(
        code: "E0000015", status: 401, summary: "This organization does not offer this factor. Choose one of those listed.",
        reason: "authn: factor is not supported")

    static func missing(_ name: String) -> ClassicRefusal {
        ClassicRefusal(
            code: "E0000028", status: 400, summary: "The request is missing a required parameter.",
            causes: ["\(name): The member must be there."], reason: "authn: \(name) is missing")
    }
}
