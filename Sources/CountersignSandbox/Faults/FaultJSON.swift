internal import JOSE

/// Faults as the control API spells them: `{"effect": "status", "status": 503, "endpoint": "token", "count": 2}`.
extension Fault {
    /// Why a fault can't be read.
    struct Unreadable: Error { let message: String }

    init(_ json: JSONValue) throws(Unreadable) {
        guard let endpoint = json["endpoint"]?.stringValue, !endpoint.isEmpty else {
            throw Unreadable(message: "A fault needs an endpoint, the last part of its path such as token, or * for all.")
        }
        let count = json["count"] == nil ? 1 : json["count"]?.intValue ?? 0
        guard count > 0 else { throw Unreadable(message: "The count of a fault is a positive whole number.") }
        self.init(try Self.effect(json), at: Endpoint(rawValue: endpoint), count: count)
    }

    private static func effect(_ json: JSONValue) throws(Unreadable) -> Effect {
        switch json["effect"]?.stringValue {
        case "status":
            guard let status = json["status"]?.intValue, 200...599 ~= status else {
                throw Unreadable(message: "The effect status needs a status from 200 to 599.")
            }
            return .status(status)
        case "delay": return .delay(try seconds(json, "seconds"))
        case "rate-limited": return .rateLimited(resetAfter: try seconds(json, "reset_after"))
        case "drop-before-commit": return .dropConnectionBeforeCommit
        case "drop-after-commit": return .dropConnectionAfterCommit
        case "truncated-body": return .truncatedBody
        case "content-type":
            guard let type = json["type"]?.stringValue else { throw Unreadable(message: "The effect content-type needs a type.") }
            return .contentType(type)
        case "forged-id-token":
            guard let forgery = json["forgery"]?.stringValue.flatMap(Forgery.init(rawValue:)) else {
                throw Unreadable(message: "The forgery is one of \(Forgery.allCases.map(\.rawValue).joined(separator: ", ")).")
            }
            return .forgedIDToken(forgery)
        default:
            throw Unreadable(
                message:
                    "The effect is one of status, delay, rate-limited, drop-before-commit, drop-after-commit, truncated-body, content-type, forged-id-token."
            )
        }
    }

    private static func seconds(_ json: JSONValue, _ name: String) throws(Unreadable) -> Double {
        guard let seconds = json[name]?.doubleValue, 0...86_400 ~= seconds else {
            throw Unreadable(message: "This effect needs \(name), a number of seconds up to 86400.")
        }
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
