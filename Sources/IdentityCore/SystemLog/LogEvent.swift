package import Foundation
internal import JOSE
internal import Store

/// One line of the system log: actor, action, outcome and the rule that decided. A line never contains a secret.
package struct LogEvent: Sendable, Equatable, Codable {
    package enum Outcome: String, Sendable, Codable {
        case success
        /// The action failed, for example because of a wrong password.
        case failure
        /// A policy or the user denied the action.
        case denied
    }

    /// The unique id; ids sort by time.
    package var id: String
    package var time: Date
    /// The action: `user.authentication.password`, `token.grant.refresh`, `grant.revoked`, …
    package var type: String
    package var outcome: Outcome
    /// The check or rule that decided; `nil` for none.
    package var reason: String?
    /// The name of the administrator who acted; `nil` if the user, an application or the server did.
    package var administrator: String?
    /// The user's id; `nil` if the user is unknown.
    package var userID: String?
    package var clientID: String?
    /// The authorization server's id; `nil` for the org server, and for an action at no server.
    package var server: String?
    package var requestID: String
    /// The client's IP address; `nil` if unknown.
    package var address: String?
}

extension LogEvent {
    /// The JSON that ``RecordCoding`` decodes as this event. Encoded without `JSONEncoder` for speed, because every token request writes a
    /// line.
    var payload: [UInt8] {
        var json: [String: JSONValue] = [
            "id": .string(id), "time": .double(time.timeIntervalSinceReferenceDate), "type": .string(type),
            "outcome": .string(outcome.rawValue), "requestID": .string(requestID),
        ]
        json["reason"] = reason.map(JSONValue.string)
        json["administrator"] = administrator.map(JSONValue.string)
        json["userID"] = userID.map(JSONValue.string)
        json["clientID"] = clientID.map(JSONValue.string)
        json["server"] = server.map(JSONValue.string)
        json["address"] = address.map(JSONValue.string)
        return JSONValue.object(json).serialized()
    }
}

extension Engine {
    /// Returns the change that writes a line to the system log. Commit it together with the action that it records. The line expires after
    /// the retention time of the configuration that this engine knows; ``removeOldLogLines(now:limit:)`` applies a shorter time later.
    func logEntry(_ logged: LoggedEvent, context: RequestContext) throws -> Change {
        let event = LogEvent(
            id: try LogEvent.makeID(at: context.now, sequence: nextLogNumber(), random: environment.random), time: context.now,
            type: logged.type, outcome: logged.outcome, reason: logged.reason, administrator: context.administrator, userID: logged.userID,
            clientID: logged.clientID,
            server: logged.server, requestID: context.requestID, address: context.address)
        let policy = latestSnapshot?.systemLog ?? SystemLogPolicy()
        return .put(
            Record(
                kind: .logEvent, id: event.id, expiresAt: context.now.addingTimeInterval(policy.retention),
                payload: event.payload))
    }
}

extension LogEvent {
    /// Creates an id that sorts by time. The id consists of the milliseconds as 12 hexadecimal digits, a counter that orders the lines of
    /// one process, and 32 random bits that separate processes.
    static func makeID(at time: Date, sequence: UInt32, random: any RandomSource) throws -> String {
        idPrefix(at: time) + hexadecimal(sequence, digits: 8) + (try random.bytes(4)).map { hexadecimal($0, digits: 2) }.joined()
    }

    /// Returns the common prefix of all ids of one millisecond.
    static func idPrefix(at time: Date) -> String {
        hexadecimal(max(0, Int64(clamping: time.timeIntervalSince1970 * 1_000)), digits: 12) + "-"
    }

    private static func hexadecimal(_ number: some BinaryInteger, digits: Int) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
}
