internal import Foundation

/// A code of an authenticator app as the first factor (`otp`; oauth reference 2.4.10).
struct OTPGrant: GrantHandler {
    static let grantType = GrantType.otp
    static let isQuick = false

    private let request: AdmittedRequest
    private let login: String
    private let code: String
    private let scopes: [String]

    init(_ request: AdmittedRequest, reading view: any StoreView) throws {
        self.request = request
        login = try request.required("login_hint")
        code = try request.required("otp")
        scopes = try ScopeRequest(request["scope"]).grantedToUser(of: request.application, by: request.server)
    }

    func decide(_ engine: IdentityEngine) async throws -> TokenDecision {
        let signIn = SignInRequest(request, scopes: scopes)
        switch try await engine.authenticate(
            username: login, code: code, for: signIn, snapshot: request.snapshot, context: request.context)
        {
        case .refused(let refusal): throw refusal
        case .authenticated(let user, let authentication):
            return try UserGrant(request: request, user: user, authentication: authentication, scopes: scopes).issue(engine)
        }
    }
}

/// A code of an authenticator app as the second factor (`mfa-otp`; oauth reference 2.4.10).
///
/// A wrong code leaves the sign-in open, up to a count, and counts towards the lockout as a wrong password does. Used step, counters,
/// transaction and tokens are committed in one write: of two who use one code, one has it.
struct SecondFactorOTPGrant: GrantHandler {
    static let grantType = GrantType.secondFactorOTP
    static let isQuick = true

    private let request: AdmittedRequest
    private let token: String
    private let code: String
    private let stored: StoredTransaction
    private let user: StoredUser
    private let subject: SignInTransaction.Subject?
    private let enrollments: [Enrollment]

    init(_ request: AdmittedRequest, reading view: any StoreView) throws {
        self.request = request
        token = try request.required("mfa_token")
        code = try request.required("otp")
        guard case (let stored, .fresh)? = try view.transaction(.mfaToken, secret: token, now: request.context.now),
            stored.value.applicationID == request.application.id, stored.value.server == request.server.id,
            let user = try stored.value.userID.flatMap({ try view.record(.user, id: $0) }).map(StoredUser.init)
        else { throw Refusal(.invalidGrant, "The mfa_token is unknown or has expired. Begin again.", reason: "mfa_token: unknown") }
        self.stored = stored
        self.user = user
        subject = try view.subject(user.value, of: stored.value, snapshot: request.snapshot)
        enrollments = try view.usableEnrollments(of: user.value.id, snapshot: request.snapshot)
    }

    func decide(_ engine: IdentityEngine) async throws -> TokenDecision {
        let context = request.context
        guard let subject else { throw Refusal.overTransaction }
        if !request.isRepeated {
            let attempts = engine.countAttempt(login: user.value.login, snapshot: request.snapshot, context: context)
            guard attempts.isAdmitted else {
                throw Refusal.tooManyRequests(attempts, reason: "sign-in attempts for one user name or from one address")
            }
        }
        let verifier = TOTPVerifier(environment: engine.environment, enrollments: enrollments, now: context.now)
        let verdict = try verifier.verify(.code(code), of: user.value, policy: request.snapshot.passwordPolicy)
        let (next, outcome, effects) = stored.value.step(
            .judged(verifier.kind, verifier.factorClass, methods: verifier.methods, verdict, subject), now: context.now)
        var person = user.value
        var changes = [try stored.writing(next)]
        for effect in effects {
            switch effect {
            case .writeUser(let changed):
                person = changed
                changes.append(.put(try user.record(holding: changed)))
            case .writeEnrollment(let used): changes.append(.put(try used.record()))
            case .log(let type, let result, let reason):
                changes.append(
                    try engine.logEntry(
                        type, result, reason: reason, userID: next.userID, clientID: next.applicationID, server: next.server,
                        context: context))
            }
        }
        if next.end != nil { changes.append(.closeTickets(of: RecordReference(.transaction, next.id))) }
        switch outcome {
        case .authenticated(let authentication):
            // The scopes are those that the first request asked for: nobody widens them in the middle.
            let issued = try UserGrant(request: request, user: person, authentication: authentication, scopes: next.scopes).issue(engine)
            guard case .issued(let response, let own, let rule, let userID) = issued else { return issued }
            return .issued(response, changes: changes + own, rule: rule, userID: userID)
        case .tryAgain(let refusal), .refused(let refusal):
            return .refused(refusal, changes: changes, userID: next.userID)
        case .factorRequired(let grantTypes):
            return .refused(.factorRequired(grantTypes, token: token), changes: changes, userID: next.userID)
        case .enrollmentRequired, .enrollmentOffered, .passwordDue, .recovering, .unlocked, .challenged, .pending, .judged, .tooLate,
            .cancelled:
            throw Refusal.overTransaction
        }
    }
}
