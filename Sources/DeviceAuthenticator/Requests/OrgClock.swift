internal import AuthFoundation
internal import Foundation
internal import JOSE

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// The time of each org: the device's clock, corrected by the `Date` header (RFC 9110 §6.6.1) of the org's responses. The device signs and
/// compares with the org's time, so that a device with a wrong clock still works. The corrections are kept in memory only. Safe from any
/// thread.
final class OrgClock: Sendable {
    /// The largest correction, in seconds. A stolen token that is dated further ahead would stay valid for too long.
    static let largestCorrection: TimeInterval = 86_400
    /// The difference in seconds from which servers reject signatures with a wrong time.
    static let tolerance: TimeInterval = 60
    /// The maximum number of stored origins. The origins of orgs and of their key sets are stored.
    private static let mostOrigins = 64

    let device: any OAuth2Clock
    /// The seconds by which each origin's time is ahead of the device's clock.
    private let offsets = Locked<[String: TimeInterval]>([:])

    init(_ device: any OAuth2Clock) { self.device = device }

    /// Returns the time of an org, or the device's time if the org has not responded yet or the difference exceeds ``largestCorrection``.
    func now(at org: URL) -> Date {
        let offset = offset(of: org) ?? 0
        return device.now.addingTimeInterval(abs(offset) <= Self.largestCorrection ? offset : 0)
    }

    /// Returns the seconds by which the org's time is ahead of the device's clock; `nil` if the org has not responded yet.
    func offset(of org: URL) -> TimeInterval? {
        guard let origin = org.origin else { return nil }
        return offsets.withLock { $0[origin] }
    }

    /// Whether the difference exceeds ``largestCorrection``, so that the device cannot compare with the org's time.
    func isTooWrong(for org: URL) -> Bool { offset(of: org).map { abs($0) > Self.largestCorrection } ?? false }

    /// Reads the time from a response, if the response comes from the requested origin and not from a cache.
    func learn(from response: HTTPURLResponse, to request: URLRequest) {
        guard let origin = request.url?.origin, response.url?.origin == origin,
            response.value(forHTTPHeaderField: "Age").map({ $0 == "0" }) ?? true,
            let date = response.value(forHTTPHeaderField: "Date").flatMap(HTTPDate.date(from:))
        else { return }
        let difference = date.timeIntervalSince(device.now)
        // The header has whole seconds, and the network delays the response.
        let offset = abs(difference) < 2 ? 0 : difference
        offsets.withLock { offsets in
            if offsets[origin] != nil || offsets.count < Self.mostOrigins { offsets[origin] = offset }
        }
    }

    /// Returns an error with the clock's difference; `nil` if the difference is too small for the org to reject signatures.
    func error(at org: URL) -> DeviceClockError? {
        guard let offset = offset(of: org), abs(offset) > Self.tolerance else { return nil }
        return DeviceClockError(offset: offset)
    }
}

/// The error for a device clock that differs from the org's.
struct DeviceClockError: ClientError, LocalizedError, Equatable {
    /// The seconds by which the org's clock is ahead of the device's.
    let offset: TimeInterval

    var errorDescription: String? { userText.description.text }
    var recoverySuggestion: String? { userText.suggestion?.text }
    var userText: ErrorText { ErrorText(clockOffset: offset) }

    var debugDescription: String {
        "This device's clock is \(ClockAmount(offset).english) \(offset > 0 ? "behind" : "ahead of") the server's. Set the date and time."
    }
}
