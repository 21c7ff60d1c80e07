internal import Foundation
internal import IdentityCore
internal import JOSE
package import ServerHTTP

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
        members["recoveryToken"] = transaction.recoveryToken.map(JSONValue.string)
        members["recoveryType"] = transaction.recoveryType.map(JSONValue.string)
        members["factorType"] = transaction.recoveryChannel.map { .string(Self.name(of: $0)) }
        members["factorResult"] = transaction.factorResult.map { .string($0.rawValue) }
        let embedded = embedded(transaction)
        // What is not known to be anybody's has nothing to show.
        if transaction.status != .recoveryChallenge { members["_embedded"] = .object(embedded) }
        let links = links(transaction)
        if !links.isEmpty { members["_links"] = .object(links) }
        return .object(members)
    }

    private func embedded(_ transaction: ClassicTransaction) -> [String: JSONValue] {
        var embedded: [String: JSONValue] = [:]
        embedded["user"] = transaction.user.map { json($0, question: transaction.recoveryQuestion) }
        embedded["factors"] = transaction.factors.map { .array($0.map { json($0, of: transaction.user, isChoice: true) }) }
        embedded["factor"] = transaction.factor.map { json($0, of: transaction.user) }
        embedded["policy"] =
            transaction.remembering.map(json) ?? transaction.passwordPolicy.map { json($0, expireDays: transaction.passwordExpireDays) }
        return embedded
    }

    /// The ways of a recovery, spelled as official clients read them.
    private static func name(of channel: CodeChannel) -> String {
        switch channel {
        case .sms: "SMS"
        case .voice: "call"
        case .email: "EMAIL"
        }
    }

    private func json(_ person: ClassicPerson, question: String?) -> JSONValue {
        var members: [String: JSONValue] = ["id": .string(person.id), "profile": .object(person.profile.mapValues(JSONValue.string))]
        members["passwordChanged"] = person.passwordChanged.map(Self.date)
        members["recovery_question"] = question.map { ["question": .string($0)] }
        return .object(members)
    }

    private func json(_ factor: ClassicFactor, of person: ClassicPerson?, isChoice: Bool = false) -> JSONValue {
        var members: [String: JSONValue] = [
            "factorType": .string(factor.type), "provider": .string(factor.provider), "vendorName": .string(factor.provider),
        ]
        if let enrolling = factor.enrolling {
            members["enrollment"] = .string(enrolling.rawValue)
            members["status"] = factor.isSetUp ? "ACTIVE" : "NOT_SETUP"
            if !factor.isSetUp {
                var links: JSONValue = ["enroll": link("/factors")]
                if factor.type == "question", let person {
                    links["questions"] = [
                        "href": .string("\(origin)/api/v1/users/\(person.id)/factors/questions"), "hints": ["allow": ["GET"]],
                    ]
                }
                members["_links"] = links
            }
            return .object(members)
        }
        members["profile"] = .object(factor.profile.mapValues(JSONValue.string))
        if let activation = factor.activation { members["_embedded"] = ["activation": json(activation, of: factor, person)] }
        members["id"] = factor.id.map(JSONValue.string)
        if let number = factor.correctAnswer { members["_embedded"] = ["challenge": ["correctAnswer": .integer(Int64(number))]] }
        if isChoice, let id = factor.id { members["_links"] = ["verify": link("/factors/\(id)/verify")] }
        return .object(members)
    }

    private func json(_ activation: ClassicActivation, of factor: ClassicFactor, _ person: ClassicPerson?) -> JSONValue {
        var links: [String: JSONValue] = [:]
        if let token = activation.pictureToken {
            let picture = "\(origin)/api/v1/users/\(person?.id ?? "")/factors/\(factor.id ?? "")/qr/\(token)"
            links["qrcode"] = ["href": .string(picture), "type": "image/png"]
        }
        if let secret = activation.secret {
            return [
                "timeStep": 30, "sharedSecret": .string(secret), "encoding": "base32", "keyLength": 6, "_links": .object(links),
            ]
        }
        let path = "/factors/\(factor.id ?? "")/lifecycle/activate"
        if activation.pictureToken != nil {
            links["send"] = .array(["email", "sms"].map { (way: String) in link("\(path)/\(way)", name: way) })
        }
        if activation.result == .timeout { links["activate"] = link(path, name: "activate") }
        var members: [String: JSONValue] = ["_links": .object(links)]
        members["expiresAt"] = activation.expiresAt.map(Self.date)
        members["factorResult"] = activation.result.map { .string($0.rawValue) }
        return .object(members)
    }

    private func json(_ remembering: ClassicRemembering) -> JSONValue {
        [
            "allowRememberDevice": .bool(remembering.isAllowed), "rememberDeviceByDefault": .bool(remembering.isDefault),
            "rememberDeviceLifetimeInMinutes": .integer(Int64(remembering.minutes)),
            "factorsPolicyInfo": remembering.autoPush.map { .object($0.mapValues { ["autoPushEnabled": .bool($0)] }) } ?? .null,
        ]
    }

    private func json(_ policy: PasswordPolicy, expireDays: Int?) -> JSONValue {
        let kinds = policy.complexity
        var members: JSONValue = [
            "complexity": [
                "minLength": .integer(Int64(policy.minimumLength)), "minLowerCase": .integer(Int64(kinds.lowercase)),
                "minUpperCase": .integer(Int64(kinds.uppercase)), "minNumber": .integer(Int64(kinds.digits)),
                "minSymbol": .integer(Int64(kinds.symbols)), "excludeUsername": true,
                "excludeAttributes": kinds.excludesNames ? ["firstName", "lastName"] : [],
            ],
            "age": [
                "minAgeMinutes": .integer(Int64(policy.age.minimumMinutes)), "historyCount": .integer(Int64(policy.age.history)),
            ],
        ]
        members["expiration"] = expireDays.map { ["passwordExpireDays": .integer(Int64($0))] }
        return members
    }

    // MARK: - Links

    private func links(_ transaction: ClassicTransaction) -> [String: JSONValue] {
        var links: [String: JSONValue] = [:]
        if let next = transaction.next, let path = path(of: next, transaction) {
            links["next"] = link(path, name: next == .pollActivation ? "poll" : next.rawValue)
        }
        if transaction.canReturn { links["prev"] = link("/previous") }
        if transaction.canCancel { links["cancel"] = link("/cancel") }
        if transaction.canSkip { links["skip"] = link("/skip", name: "skip") }
        if transaction.canResend, let channel = transaction.recoveryChannel {
            let name = Self.name(of: channel)
            links["resend"] = link("/recovery/factors/\(name.uppercased())/resend", name: name.lowercased())
        }
        if transaction.canResend, let factor = transaction.factor, let id = factor.id {
            let path = factor.isSetUp ? "verify" : "lifecycle"
            links["resend"] = [link("/factors/\(id)/\(path)/resend", name: factor.type)]
        }
        return links
    }

    private func path(of next: ClassicTransaction.Next, _ transaction: ClassicTransaction) -> String? {
        switch next {
        case .verify where transaction.recoveryChannel != nil:
            transaction.recoveryChannel.map { "/recovery/factors/\(Self.name(of: $0).uppercased())/verify" }
        case .poll, .verify: transaction.factor?.id.map { "/factors/\($0)/verify" }
        case .pollActivation: transaction.factor?.id.map { "/factors/\($0)/lifecycle/activate/poll" }
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
    package static func refusal(_ refusal: ClassicRefusal, to request: ServerRequest) -> ServerResponse {
        .api(
            refusal.code, status: refusal.status, refusal.summary, causes: refusal.causes, reason: refusal.reason,
            limit: refusal.rateLimit, to: request)
    }
}
