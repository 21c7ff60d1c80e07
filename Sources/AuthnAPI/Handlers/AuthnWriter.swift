internal import Foundation
internal import IdentityCore
internal import JOSE
package import ServerHTTP
internal import WebAuthn

/// Serializes sign-in states of the classic API (Documentation/Protocol/Authn.md §1.4, §2.1 to §2.4 and §7.2). Links are absolute, on the
/// configured origin.
struct AuthnWriter: Sendable {
    let origin: String

    func answer(_ outcome: ClassicAnswer.Outcome) -> JSONValue {
        switch outcome {
        case .transaction(let transaction): json(transaction)
        case .cancelled(let relayState): .object(relayState.map { ["relayState": .string($0)] } ?? [:])
        }
    }

    private func json(_ transaction: ClassicTransaction) -> JSONValue {
        var members: [String: JSONValue] = ["status": .string(transaction.status.rawValue)]
        members["stateToken"] = transaction.stateToken.map(JSONValue.string)
        members["sessionToken"] = transaction.sessionToken.map(JSONValue.string)
        members["expiresAt"] = transaction.expiresAt.map(Self.date)
        members["relayState"] = transaction.relayState.map(JSONValue.string)
        members["recoveryToken"] = transaction.recoveryToken.map(JSONValue.string)
        members["recoveryType"] = transaction.recoveryType.map(JSONValue.string)
        members["factorType"] = transaction.recoveryChannel.map { .string(Self.name(of: $0)) }
        members["challengeType"] = transaction.challengeType.map { .string($0.rawValue) }
        if transaction.challengeType == .factorType { members["factorType"] = "webauthn" }
        members["factorResult"] = transaction.factorResult.map { .string($0.rawValue) }
        let embedded = embedded(transaction)
        // The response must not reveal whether the account exists.
        if transaction.status != .recoveryChallenge { members["_embedded"] = .object(embedded) }
        let links = links(transaction)
        if !links.isEmpty { members["_links"] = .object(links) }
        return .object(members)
    }

    private func embedded(_ transaction: ClassicTransaction) -> [String: JSONValue] {
        var embedded: [String: JSONValue] = [:]
        embedded["user"] = transaction.user.map { json($0, question: transaction.recoveryQuestion) }
        let isChoice = transaction.status != .factorChallenge
        embedded["factors"] = transaction.factors.map { .array($0.map { json($0, of: transaction.user, isChoice: isChoice) }) }
        embedded["challenge"] = transaction.challenge.map(json)
        embedded["factor"] = transaction.factor.map { json($0, of: transaction.user) }
        embedded["policy"] =
            transaction.remembering.map(json) ?? transaction.passwordPolicy.map { json($0, expireDays: transaction.passwordExpireDays) }
        return embedded
    }

    /// Returns the name of a channel as official clients read it.
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
            if let count = factor.count {
                let minimum: Int64 = enrolling == .required ? 1 : 0
                members["policy"] = [
                    "enrollment": [
                        "enrolled": .integer(Int64(count.enrolled)), "minimum": .integer(minimum),
                        "maximum": .integer(Int64(count.maximum)),
                    ]
                ]
            }
            if factor.count.map({ $0.enrolled < $0.maximum }) ?? !factor.isSetUp {
                var links: JSONValue = ["enroll": link(RoutePath.enroll.pattern)]
                if factor.type == "question", let person {
                    links["questions"] = [
                        "href": .string(origin + RoutePath.questions(person.id)), "hints": ["allow": ["GET"]],
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
        if let challenge = factor.challenge { members["_embedded"] = ["challenge": json(challenge)] }
        if isChoice, let id = factor.id { members["_links"] = ["verify": link(RoutePath.verify(id))] }
        return .object(members)
    }

    private func json(_ challenge: ClassicPasskeyChallenge) -> JSONValue {
        [
            "challenge": .string(challenge.challenge), "rpId": .string(challenge.rpID),
            "userVerification": .string(challenge.userVerification.rawValue), "extensions": [:],
        ]
    }

    private func json(_ options: CreationOptions) -> JSONValue {
        var members = options.json
        // The activation request has no member for the results of extensions.
        members["extensions"] = nil
        members["u2fParams"] = ["appid": .string(origin)]
        return members
    }

    private func json(_ activation: ClassicActivation, of factor: ClassicFactor, _ person: ClassicPerson?) -> JSONValue {
        if let options = activation.passkey { return json(options) }
        var links: [String: JSONValue] = [:]
        if let token = activation.pictureToken {
            let picture = origin + RoutePath.picture(person?.id ?? "", factor.id ?? "", token)
            links["qrcode"] = ["href": .string(picture), "type": "image/png"]
        }
        if let secret = activation.secret {
            return [
                "timeStep": 30, "sharedSecret": .string(secret), "encoding": "base32", "keyLength": 6, "_links": .object(links),
            ]
        }
        let id = factor.id ?? ""
        if activation.pictureToken != nil {
            links["send"] = [
                link(RoutePath.mailActivation(id), name: "email"), link(RoutePath.textActivation(id), name: "sms"),
            ]
        }
        if activation.result == .timeout { links["activate"] = link(RoutePath.activateFactor(id), name: "activate") }
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

    private func links(_ transaction: ClassicTransaction) -> [String: JSONValue] {
        var links: [String: JSONValue] = [:]
        if let next = transaction.next, let path = path(of: next, transaction) {
            links["next"] = link(path, name: next == .pollActivation ? "poll" : next.rawValue)
        }
        if transaction.canReturn { links["prev"] = link(RoutePath.previous.pattern) }
        if transaction.canCancel { links["cancel"] = link(RoutePath.cancel.pattern) }
        if transaction.canSkip { links["skip"] = link(RoutePath.skip.pattern, name: "skip") }
        if transaction.canResend, let channel = transaction.recoveryChannel {
            let name = Self.name(of: channel)
            links["resend"] = link(RoutePath.recoveryResend(name.uppercased()), name: name.lowercased())
        }
        if transaction.canResend, let factor = transaction.factor, let id = factor.id {
            let path = factor.isSetUp ? RoutePath.resend : RoutePath.resendActivation
            links["resend"] = [link(path(id), name: factor.type)]
        }
        return links
    }

    private func path(of next: ClassicTransaction.Next, _ transaction: ClassicTransaction) -> String? {
        switch next {
        case .verify where transaction.recoveryChannel != nil:
            transaction.recoveryChannel.map { RoutePath.recoveryVerify(Self.name(of: $0).uppercased()) }
        case .verify where transaction.challengeType == .factorType: RoutePath.verify(ClassicSignIn.passkeysByType)
        case .poll, .verify: transaction.factor?.id.map { RoutePath.verify($0) }
        case .pollActivation: transaction.factor?.id.map { RoutePath.pollActivation($0) }
        case .activate: transaction.factor?.id.map { RoutePath.activateFactor($0) }
        case .changePassword: RoutePath.changePassword.pattern
        case .resetPassword: RoutePath.resetPassword.pattern
        case .unlock: RoutePath.unlock.pattern
        case .answer: RoutePath.recoveryAnswer.pattern
        case .recovery: RoutePath.recoveryToken.pattern
        }
    }

    private func link(_ path: String, name: String? = nil) -> JSONValue {
        var members: [String: JSONValue] = ["href": .string(origin + path), "hints": ["allow": ["POST"]]]
        members["name"] = name.map(JSONValue.string)
        return .object(members)
    }

    /// Returns a time in UTC with milliseconds, the only form that official clients read.
    private static func date(_ date: Date) -> JSONValue {
        .string(date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
    }
}

extension ServerResponse {
    package static func refusal(_ refusal: ClassicRefusal, to request: ServerRequest) -> ServerResponse {
        .api(
            refusal.code, status: refusal.status, refusal.summary, causes: refusal.causes, reason: refusal.reason,
            limit: refusal.rateLimit, to: request)
    }
}
