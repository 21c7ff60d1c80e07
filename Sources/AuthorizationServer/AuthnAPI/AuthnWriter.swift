internal import Foundation
internal import HTTPTypes
internal import IdentityEngine
internal import JOSE

/// Writes transactions and refusals of the classic API as its clients read them (authn reference 1.4, 2.1 to 2.4 and 7.2).
///
/// Links are absolute, on the configured origin, and need no query.
struct AuthnWriter: Sendable {
    let origin: String

    private var base: String { origin + "/api/v1/authn" }

    /// A step's answer.
    func answer(_ outcome: ClassicAnswer.Outcome) -> JSONValue {
        switch outcome {
        case .transaction(let transaction): json(transaction)
        case .cancelled(let relayState): .object(relayState.map { ["relayState": .string($0)] } ?? [:])
        }
    }

    // MARK: - Transactions

    private func json(_ transaction: ClassicTransaction) -> JSONValue {
        var members: [String: JSONValue] = ["status": .string(transaction.status.rawValue)]
        members["stateToken"] = transaction.stateToken.map(JSONValue.string)
        members["sessionToken"] = transaction.sessionToken.map(JSONValue.string)
        members["expiresAt"] = transaction.expiresAt.map(Self.date)
        members["relayState"] = transaction.relayState.map(JSONValue.string)
        members["factorResult"] = transaction.factorResult.map { .string($0.rawValue) }
        members["_embedded"] = .object(embedded(transaction))
        let links = links(transaction)
        if !links.isEmpty { members["_links"] = .object(links) }
        return .object(members)
    }

    private func embedded(_ transaction: ClassicTransaction) -> [String: JSONValue] {
        var embedded: [String: JSONValue] = [:]
        embedded["user"] = transaction.user.map(json)
        embedded["factors"] = transaction.factors.map { .array($0.map { json($0, isChoice: true) }) }
        embedded["factor"] = transaction.factor.map { json($0, isChoice: false) }
        embedded["policy"] = transaction.remembering.map(json)
        return embedded
    }

    private func json(_ person: ClassicPerson) -> JSONValue {
        var members: [String: JSONValue] = ["id": .string(person.id), "profile": .object(person.profile.mapValues(JSONValue.string))]
        members["passwordChanged"] = person.passwordChanged.map(Self.date)
        return .object(members)
    }

    private func json(_ factor: ClassicFactor, isChoice: Bool) -> JSONValue {
        var members: [String: JSONValue] = [
            "factorType": .string(factor.type), "provider": .string(factor.provider), "vendorName": .string(factor.provider),
            "profile": .object(factor.profile.mapValues(JSONValue.string)),
        ]
        members["id"] = factor.id.map(JSONValue.string)
        if let number = factor.correctAnswer { members["_embedded"] = ["challenge": ["correctAnswer": .integer(Int64(number))]] }
        if isChoice, let id = factor.id { members["_links"] = ["verify": link("/factors/\(id)/verify")] }
        return .object(members)
    }

    private func json(_ remembering: ClassicRemembering) -> JSONValue {
        [
            "allowRememberDevice": .bool(remembering.isAllowed), "rememberDeviceByDefault": .bool(remembering.isDefault),
            "rememberDeviceLifetimeInMinutes": .integer(Int64(remembering.minutes)), "factorsPolicyInfo": .null,
        ]
    }

    // MARK: - Links

    private func links(_ transaction: ClassicTransaction) -> [String: JSONValue] {
        var links: [String: JSONValue] = [:]
        if let next = transaction.next, let path = path(of: next, transaction) { links["next"] = link(path, name: next.rawValue) }
        if transaction.canReturn { links["prev"] = link("/previous") }
        if transaction.canCancel { links["cancel"] = link("/cancel") }
        if transaction.canSkip { links["skip"] = link("/skip", name: "skip") }
        if transaction.canResend, let factor = transaction.factor, let id = factor.id {
            links["resend"] = [link("/factors/\(id)/verify/resend", name: factor.type)]
        }
        return links
    }

    private func path(of next: ClassicTransaction.Next, _ transaction: ClassicTransaction) -> String? {
        switch next {
        case .poll, .verify: transaction.factor?.id.map { "/factors/\($0)/verify" }
        case .activate: transaction.factor?.id.map { "/factors/\($0)/lifecycle/activate" }
        case .changePassword: "/credentials/change_password"
        case .resetPassword: "/credentials/reset_password"
        case .unlock: "/recovery/unlock"
        case .answer: "/recovery/answer"
        case .recovery: "/recovery/token"
        }
    }

    private func link(_ path: String, name: String? = nil) -> JSONValue {
        var members: [String: JSONValue] = ["href": .string(base + path), "hints": ["allow": ["POST"]]]
        members["name"] = name.map(JSONValue.string)
        return .object(members)
    }

    /// UTC with milliseconds: official clients read no other form.
    private static func date(_ date: Date) -> JSONValue {
        .string(date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
    }
}

extension ServerResponse {
    /// A refusal of the classic API.
    ///
    /// - Parameters:
    ///   - refusal: What was refused.
    ///   - request: The request; its id names the error.
    /// - Returns: The answer.
    static func refusal(_ refusal: ClassicRefusal, to request: ServerRequest) -> ServerResponse {
        let body: JSONValue = [
            "errorCode": .string(refusal.code), "errorSummary": .string(refusal.summary), "errorLink": .string(refusal.code),
            "errorId": .string("oae" + request.context.requestID),
            "errorCauses": .array(refusal.causes.map { ["errorSummary": .string($0)] }),
        ]
        var response = ServerResponse(status: .init(code: refusal.status), json: body.serialized())
        if let limit = refusal.rateLimit {
            response.headers.set(limit)
            let wait = max(1, Int(limit.reset.timeIntervalSince(request.context.now).rounded(.up)))
            response.headers[.retryAfter] = String(wait)
        }
        if request.isTooLarge { response.closesConnection = true }
        response.trace.reason = refusal.reason
        return response
    }
}
