public import Foundation

/// A source of time that can be more accurate than the device's clock.
public protocol TimeCoordinator: Sendable {
    /// The current time.
    var now: Date { get }

    /// Converts a time of the device's clock to the coordinator's time.
    func date(from date: Date) -> Date
}

extension Date {
    private static let currentCoordinator = Locked<any TimeCoordinator>(ServerTimeCoordinator.shared)

    /// The process-wide time source. By default, the device's clock corrected by the `Date` headers of servers.
    public static var coordinator: any TimeCoordinator {
        get { currentCoordinator.withLock { $0 } }
        set { currentCoordinator.withLock { $0 = newValue } }
    }

    /// The current time of the ``coordinator``.
    public static var nowCoordinated: Date { coordinator.now }

    /// The date, converted from the device's clock to the time of the ``coordinator``.
    public var coordinated: Date { Self.coordinator.date(from: self) }
}

/// The device's clock, corrected by the offset from the latest `Date` header of a server. Safe from any thread.
final class ServerTimeCoordinator: TimeCoordinator {
    static let shared = ServerTimeCoordinator()

    private let offset = Locked<TimeInterval>(0)

    var now: Date { date(from: DeviceClock().now) }

    func date(from date: Date) -> Date {
        date.addingTimeInterval(offset.withLock { $0 })
    }

    func learn(offset: TimeInterval) {
        self.offset.withLock { $0 = offset }
    }
}

/// A source of time and of waiting for an ``OAuth2Client``. A test can use a manual clock, so that the client never really waits.
public protocol OAuth2Clock: TimeCoordinator {
    /// Waits.
    /// - Parameter interval: The time in seconds. Zero or less returns at once.
    /// - Throws: `CancellationError` if the task is cancelled.
    func sleep(for interval: TimeInterval) async throws
}

extension OAuth2Clock {
    /// Returns the date unchanged, because the clock is assumed to be correct.
    public func date(from date: Date) -> Date { date }
}

/// The device's clock.
public struct DeviceClock: OAuth2Clock {
    /// Creates a device clock.
    public init() {}

    /// The time of the device.
    public var now: Date { Date() }

    /// Waits on the device's clock, which continues while the device sleeps.
    /// - Parameter interval: The time in seconds. Zero or less returns at once.
    /// - Throws: `CancellationError` if the task is cancelled.
    public func sleep(for interval: TimeInterval) async throws {
        try Task.checkCancellation()
        guard interval > 0 else { return }
        // The limit of one year prevents an overflow of nanoseconds. Real waits are much shorter.
        try await Task.sleep(for: .seconds(min(interval, 365 * 86_400)), clock: .continuous)
    }
}

/// The date format of HTTP headers (RFC 9110 §5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
package enum HTTPDate {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Parses a date. Returns `nil` if the date is invalid or has an obsolete format, which servers must not send.
    package static func date(from text: String) -> Date? {
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[0].hasSuffix(","), parts[5] == "GMT" || parts[5] == "UTC",
            let day = Int(parts[1]), let month = months.firstIndex(of: String(parts[2])), let year = year(parts[3])
        else { return nil }
        let time = parts[4].split(separator: ":").compactMap { Int($0) }
        guard time.count == 3, (1...31).contains(day), (0...23).contains(time[0]), (0...59).contains(time[1]), (0...60).contains(time[2])
        else { return nil }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar.date(
            from: DateComponents(year: year, month: month + 1, day: day, hour: time[0], minute: time[1], second: time[2]))
    }

    /// Parses exactly four digits, so that date arithmetic stays within its limits.
    private static func year(_ text: Substring) -> Int? {
        text.utf8.count == 4 && text.utf8.allSatisfy { (48...57).contains($0) } ? Int(text) : nil
    }
}
