internal import Foundation
internal import JOSE

extension IdentityEngine {
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
