internal import Foundation
internal import JOSE

extension LogEvent {
    /// What ``RecordCoding`` decodes as this event, written without the general encoder: a line is written with every token.
    var payload: [UInt8] {
        var json: [String: JSONValue] = [
            "id": .string(id), "time": .double(time.timeIntervalSinceReferenceDate), "type": .string(type),
            "outcome": .string(outcome.rawValue), "requestID": .string(requestID),
        ]
        json["reason"] = reason.map(JSONValue.string)
        json["userID"] = userID.map(JSONValue.string)
        json["clientID"] = clientID.map(JSONValue.string)
        json["server"] = server.map(JSONValue.string)
        json["address"] = address.map(JSONValue.string)
        return JSONValue.object(json).serialized()
    }
}
