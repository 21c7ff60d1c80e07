package import Foundation
internal import JOSE
internal import Store

/// One line of the system log: who did what, to what, with which outcome, and which rule decided. Never a secret.
package struct LogEvent: Sendable, Equatable, Codable {
    /// How it ended.
    package enum Outcome: String, Sendable, Codable {
        /// As was wanted.
        case success
        /// It failed: a wrong password, for example.
        case failure
        /// A policy or a person said no.
        case denied
    }

    /// Unique; sorts by time.
    package var id: String
    /// When.
    package var time: Date
    /// What: `user.authentication.password`, `token.grant.refresh`, `grant.revoked`, …
    package var type: String
    /// How it ended.
    package var outcome: Outcome
    /// The check or rule that decided.
    package var reason: String?
    /// The user's id or, unknown to the store, nothing.
    package var userID: String?
    /// The client's id.
    package var clientID: String?
    /// The authorization server's issuer id.
    package var server: String?
    /// The request's id.
    package var requestID: String
    /// The peer's address.
    package var address: String?

    /// Describes an event.
    package init(
        id: String, time: Date, type: String, outcome: Outcome, reason: String? = nil, userID: String? = nil, clientID: String? = nil,
        server: String? = nil, requestID: String, address: String? = nil
    ) {
        self.id = id
        self.time = time
        self.type = type
        self.outcome = outcome
        self.reason = reason
        self.userID = userID
        self.clientID = clientID
        self.server = server
        self.requestID = requestID
        self.address = address
    }
}

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

extension Engine {
    /// How long a line of the system log is kept, in seconds: 90 days.
    static let logRetention: TimeInterval = 90 * 86_400

    /// The change that writes a line to the system log, to be committed together with what it tells of.
    func logEntry(_ logged: LoggedEvent, context: RequestContext) throws -> Change {
        let event = LogEvent(
            id: try LogEvent.makeID(at: context.now, sequence: nextLogNumber(), random: environment.random), time: context.now,
            type: logged.type, outcome: logged.outcome, reason: logged.reason, userID: logged.userID, clientID: logged.clientID,
            server: logged.server, requestID: context.requestID, address: context.address)
        return .put(
            Record(
                kind: .logEvent, id: event.id, expiresAt: context.now.addingTimeInterval(Self.logRetention),
                payload: event.payload))
    }
}

extension LogEvent {
    /// An id that sorts by time: milliseconds in twelve hexadecimal digits, then a number that keeps the lines of one process in
    /// order, then 32 random bits that keep those of two apart.
    static func makeID(at time: Date, sequence: UInt32, random: any RandomSource) throws -> String {
        idPrefix(at: time) + hexadecimal(sequence, digits: 8) + (try random.bytes(4)).map { hexadecimal($0, digits: 2) }.joined()
    }

    /// What the ids of one millisecond begin with.
    static func idPrefix(at time: Date) -> String {
        hexadecimal(max(0, Int64(clamping: time.timeIntervalSince1970 * 1_000)), digits: 12) + "-"
    }

    private static func hexadecimal(_ number: some BinaryInteger, digits: Int) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
}
