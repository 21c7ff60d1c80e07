internal import Foundation
package import IdentityCore
package import JOSE
internal import Store

/// The result of a device's answer to a challenge.
package enum ChallengeAnswerOutcome: Sendable, Equatable {
    case approved
    /// The user denied the sign-in.
    case denied
}

extension Engine {
    /// Processes a device's answer to a challenge (Documentation/Protocol/Devices.md §2.9 and §3.7). The signed token in the body is the
    /// only proof. The first final answer decides for all challenged devices. The decision is committed before this function returns.
    /// - Parameters:
    ///   - id: The challenge's id, from the path.
    ///   - body: The members `method` and `challengeResponse`.
    /// - Returns: The decision, or a refusal of an invalid or late answer.
    package func answerChallenge(
        id: String, body: JSONValue, context: RequestContext
    ) async throws -> Result<ChallengeAnswerOutcome, DeviceRefusal> {
        guard body["method"]?.stringValue == "push", let token = body["challengeResponse"]?.stringValue else {
            return .failure(.invalid("answer", ["The answer needs the members method (push) and challengeResponse."]))
        }
        // The limit protects the disk from a faulty device. Guessing needs no limit, because answers are signed.
        let tries = rateLimiter.count(.challenge(String(id.prefix(100))), limit: 20, now: context.now)
        guard tries.isAdmitted else { return .failure(.tooManyAnswers) }
        return try await transact(context, refusing: DeviceRefusal.self) {
            AnswerReading.lookup(id: id, token: token)
        } read: { reading in
            try AnswerReading(id: id, token: token, view: reading.view, snapshot: reading.snapshot, now: context.now)
        } decide: { found in
            let (next, outcome, effects) = found.transaction.value.step(.answered(found.response.answer), now: context.now)
            var plan = Plan(Self.result(of: outcome))
            // A device repeats its answer if the response was lost. The repeated answer is refused as already given.
            plan.uses = [.init(change: found.response.use.change, refused: .failure(.tooLate(.answered, "The answer was given before.")))]
            for case .log(let type, let result, let reason) in effects {
                plan.writes.log(
                    type, result, reason: "\(reason); device \(found.enrollment.id)", userID: next.userID, clientID: next.applicationID,
                    server: next.server)
            }
            if next != found.transaction.value {
                plan.writes += [try found.transaction.writing(next)]
                // A concurrent change of the enrollment causes a conflict.
                if case .judged(.approved) = outcome { plan.writes += [found.enrollment.unchanged] }
            }
            return plan
        }
    }

    private static func result(of outcome: SignInTransaction.Outcome) -> Result<ChallengeAnswerOutcome, DeviceRefusal> {
        switch outcome {
        case .judged(.approved): .success(.approved)
        case .judged(.denied): .success(.denied)
        case .judged(.failed(let reason)):
            .failure(.invalid("answer", ["The answer is no approval, and the sign-in was refused: \(reason)."]))
        case .judged(.invalid(let reason)):
            .failure(.invalid("answer", ["The answer cannot be taken: \(reason). The challenge is still open."]))
        case .tooLate(let lateness): .failure(.tooLate(lateness))
        default: .failure(.invalid("challenge", ["The challenge is no longer pending."]))
        }
    }

    /// Returns the open challenges of an enrollment (Documentation/Protocol/Devices.md §2.8), each with the members of a push payload.
    /// - Parameter authorization: A token with any of the device scopes.
    package func pendingChallenges(
        enrollmentID: String, authorization: DeviceAuthorization, context: RequestContext
    ) async throws -> Result<JSONValue, DeviceRefusal> {
        let rows = DeviceRows(user: [.challenges], enrollmentID: enrollmentID)
        return try await answerDevice("device.challenge.list", authorization, needing: DeviceScope.any, rows: rows, context: context) {
            [self] access, caller in
            let enrolled = try access.enrollment(id: enrollmentID, of: caller)
            guard enrolled.isUsable else { return Plan(.array([])) }
            let open = try openChallenges(for: enrolled.enrollment, in: access.view, now: context.now)
            return Plan(
                .array(
                    try open.map { transaction, challenge, target in
                        let token = ChallengeToken(
                            snapshot: access.snapshot, transaction: transaction, challenge: challenge, target: target)
                        return .object(ChallengeToken.payload(try token.signed(now: context.now)))
                    }))
        }
    }

    /// Returns the challenges that an enrollment can still answer, the oldest first.
    func openChallenges(
        for enrollment: Enrollment, in view: any StoreView, now: Date
    ) throws -> [(transaction: SignInTransaction, challenge: PushChallenge, target: PushChallenge.Target)] {
        try view.records(.transaction, where: "challenged", is: enrollment.userID, limit: SignInTransaction.challengedLimit)
            .map { try StoredTransaction($0).value }
            .compactMap { transaction in
                guard transaction.end == nil, let challenge = transaction.challenge, challenge.isOpen(at: now),
                    let target = challenge.targets.first(where: { $0.enrollmentID == enrollment.id }),
                    enrollment.push?.transactionTypes.contains(challenge.transactionType) == true
                else { return nil }
                return (transaction, challenge, target)
            }
            .sorted { ($0.challenge.createdAt, $0.target.id) < ($1.challenge.createdAt, $1.target.id) }
    }
}

/// A device's answer with verified signature and bindings.
private struct AnswerReading: Sendable {
    var transaction: StoredTransaction
    var enrollment: Enrollment
    var response: ChallengeResponse

    /// The rows of the challenge, its user, and the enrollment that the answer names. The answer is not verified here.
    static func lookup(id: String, token: String) -> Lookup {
        let challenge = Lookup.Node.ticket(.pushChallenge, TicketDigest(of: id), .owner(.named(.user, byKey: "user")))
        guard let enrollment = try? JSONWebSignature(parsing: token).unverifiedClaims().issuer else { return Lookup(challenge) }
        return Lookup(challenge, .record(.enrollment, id: enrollment, .named(.device, byKey: "device")))
    }

    init(id: String, token: String, view: any StoreView, snapshot: OrgSnapshot, now: Date) throws {
        // Expired and closed challenges are found too, so that the device learns why its answer is late.
        guard id.utf8.count <= 100, let (stored, _) = try view.transaction(.pushChallenge, secret: id, now: now) else {
            throw DeviceRefusal.notFound("challenge", reason: "challenge is unknown")
        }
        guard let challenge = stored.value.challenge(ofTarget: id), let target = challenge.targets.first(where: { $0.id == id }) else {
            throw DeviceRefusal.tooLate(.replaced)
        }
        let directory = DeviceDirectory(snapshot: snapshot, view: view, now: now)
        guard let enrolled = try directory.enrollment(id: target.enrollmentID) else { throw DeviceRefusal(.enrollmentDeleted) }
        transaction = stored
        enrollment = enrolled.enrollment
        // The signature is checked first: only a holder of the enrollment's key may learn the state of the account or the enrollment.
        response = try ChallengeResponse(
            verifying: token, target: target, transactionType: challenge.transactionType, issuer: snapshot.origin, enrollment: enrollment,
            device: enrolled.device, now: now)
        let user = try GrantUserReader.user(id: enrollment.userID, in: view)
        if let refusal = DeviceRefusal.account(user) ?? enrolled.refusal { throw refusal }
        guard enrolled.isUsable else { throw DeviceRefusal.accessDenied("Push is turned off.", reason: "authenticator is off") }
    }
}
