internal import AuthFoundation
internal import Foundation
internal import JOSE

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// The time of each org: the device's clock, corrected by the `Date` header (RFC 9110 §6.6.1) of the org's own answers.
///
/// What the device signs and compares for an org is dated by that org's time, so that a wrong clock refuses nobody. The corrections are
/// kept in memory only. Safe from any thread.
final class OrgClock: Sendable {
    /// The largest correction, in seconds. A token that is dated further ahead would stay valid for too long in the wrong hands.
    static let largestCorrection: TimeInterval = 86_400
    /// By how many seconds a clock may be off before servers refuse what it dates.
    static let tolerance: TimeInterval = 60
    /// How many origins are remembered: those of the orgs, and of their key sets.
    private static let mostOrigins = 64

    /// The device's clock.
    let device: any OAuth2Clock
    /// By how many seconds each origin's time is ahead of the device's.
    private let offsets = Locked<[String: TimeInterval]>([:])

    init(_ device: any OAuth2Clock) { self.device = device }

    /// The time at an org; the device's if the org has not answered yet, or if it differs by more than ``largestCorrection``.
    func now(at org: URL) -> Date {
        let offset = offset(of: org) ?? 0
        return device.now.addingTimeInterval(abs(offset) <= Self.largestCorrection ? offset : 0)
    }

    /// By how many seconds the org's time is ahead of the device's; nil if the org has not answered yet.
    func offset(of org: URL) -> TimeInterval? {
        guard let origin = Self.origin(of: org) else { return nil }
        return offsets.withLock { $0[origin] }
    }

    /// Learns the time from an answer, if it is the requested origin's own and from no cache.
    func learn(from response: HTTPURLResponse, to request: URLRequest) {
        guard let origin = request.url.flatMap(Self.origin(of:)), response.url.flatMap(Self.origin(of:)) == origin,
            response.value(forHTTPHeaderField: "Age").map({ $0 == "0" }) ?? true,
            let date = response.value(forHTTPHeaderField: "Date").flatMap(HTTPDate.date(from:))
        else { return }
        let difference = date.timeIntervalSince(device.now)
        // The header has whole seconds and the answer took its time.
        let offset = abs(difference) < 2 ? 0 : difference
        offsets.withLock { offsets in
            if offsets[origin] != nil || offsets.count < Self.mostOrigins { offsets[origin] = offset }
        }
    }

    /// Says by how much the device's clock is off, if it is enough for the org to refuse what was signed.
    func error(at org: URL) -> DeviceClockError? {
        guard let offset = offset(of: org), abs(offset) > Self.tolerance else { return nil }
        return DeviceClockError(offset: offset)
    }

    private static func origin(of url: URL) -> String? {
        guard let scheme = url.scheme?.lowercased(), let host = url.host()?.lowercased() else { return nil }
        return "\(scheme)://\(host):\(url.port ?? (scheme == "http" ? 80 : 443))"
    }
}

/// The device's clock differs from the org's, as the org's answers say.
struct DeviceClockError: LocalizedError, Equatable {
    /// By how many seconds the org's clock is ahead of the device's.
    let offset: TimeInterval

    var errorDescription: String? {
        "This device's clock is \(amount) \(offset > 0 ? "behind" : "ahead of") the server's. Set the date and time."
    }

    private var amount: String {
        let minutes = (abs(offset) / 60).rounded()
        if minutes < 2 { return "1 minute" }
        if minutes < 120 { return "\(Int(clamping: minutes)) minutes" }
        let hours = (minutes / 60).rounded()
        // Dates of HTTP have years of four digits, so that the days can be counted.
        return hours < 72 ? "\(Int(clamping: hours)) hours" : "\(Int(clamping: (hours / 24).rounded())) days"
    }
}
