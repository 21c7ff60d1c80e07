internal import JOSE

/// Faults in the JSON of the control API: `{"effect": "status", "status": 503, "endpoint": "token", "count": 2}`.
extension Fault {
    /// Reads a fault from the body of a control call.
    init(_ body: ControlBody) throws(ControlBody.Invalid) {
        let endpoint = try body.required("endpoint", example: "token")
        let count = try body.integer("count", in: 1...1_000_000) ?? 1
        self.init(try Self.effect(body), at: Endpoint(rawValue: endpoint), count: count)
    }

    private static func effect(_ body: ControlBody) throws(ControlBody.Invalid) -> Effect {
        let name = try body.required("effect", example: "status")
        switch name {
        case "status": try body.allow("endpoint", "count", "effect", "status")
        case "delay": try body.allow("endpoint", "count", "effect", "seconds")
        case "rate-limited": try body.allow("endpoint", "count", "effect", "reset_after")
        case "content-type": try body.allow("endpoint", "count", "effect", "type")
        case "forged-id-token": try body.allow("endpoint", "count", "effect", "forgery")
        default: try body.allow("endpoint", "count", "effect")
        }
        switch name {
        case "status":
            guard let status = try body.integer("status", in: 200...599) else { throw missing("status", of: name) }
            return .status(status)
        case "delay": return .delay(try seconds("seconds", of: name, body))
        case "rate-limited": return .rateLimited(resetAfter: try seconds("reset_after", of: name, body))
        case "drop-before-commit": return .dropConnectionBeforeCommit
        case "drop-after-commit": return .dropConnectionAfterCommit
        case "truncated-body": return .truncatedBody
        case "content-type":
            guard let type = try body.text("type") else { throw missing("type", of: name) }
            guard type.unicodeScalars.allSatisfy({ (0x20...0x7E).contains($0.value) }) else {
                throw ControlBody.Invalid(message: "type must be printable ASCII, as in a header.")
            }
            return .contentType(type)
        case "forged-id-token":
            guard let forgery = try body.choice("forgery", Forgery.self) else { throw missing("forgery", of: name) }
            return .forgedIDToken(forgery)
        default:
            throw ControlBody.Invalid(
                message:
                    "effect must be one of status, delay, rate-limited, drop-before-commit, drop-after-commit, truncated-body, content-type, forged-id-token."
            )
        }
    }

    private static func missing(_ member: String, of effect: String) -> ControlBody.Invalid {
        ControlBody.Invalid(message: "The effect \(effect) needs the member \(member).")
    }

    private static func seconds(_ member: String, of effect: String, _ body: ControlBody) throws(ControlBody.Invalid) -> Double {
        guard let seconds = try body.number(member, in: 0...86_400) else { throw missing(member, of: effect) }
        return seconds
    }

    var json: JSONValue {
        var json: JSONValue = ["endpoint": .string(endpoint.rawValue), "count": .integer(Int64(count))]
        switch effect {
        case .status(let status):
            json["effect"] = "status"
            json["status"] = .integer(Int64(status))
        case .delay(let seconds):
            json["effect"] = "delay"
            json["seconds"] = .double(seconds)
        case .rateLimited(let seconds):
            json["effect"] = "rate-limited"
            json["reset_after"] = .double(seconds)
        case .dropConnectionBeforeCommit: json["effect"] = "drop-before-commit"
        case .dropConnectionAfterCommit: json["effect"] = "drop-after-commit"
        case .truncatedBody: json["effect"] = "truncated-body"
        case .contentType(let type):
            json["effect"] = "content-type"
            json["type"] = .string(type)
        case .forgedIDToken(let forgery):
            json["effect"] = "forged-id-token"
            json["forgery"] = .string(forgery.rawValue)
        }
        return json
    }
}
