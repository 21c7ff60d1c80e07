public import Foundation

/// A source of the time that may know better than the device's clock.
public protocol TimeCoordinator: Sendable {
    /// The time now.
    var now: Date { get }

    /// Turns a reading of the device's clock into the coordinator's time.
    ///
    /// - Parameter date: A reading of the device's clock.
    /// - Returns: The time.
    func date(from date: Date) -> Date
}

extension Date {
    private static let currentCoordinator = Locked<any TimeCoordinator>(ServerTimeCoordinator.shared)

    /// The coordinator that dates everywhere in the process are measured by: at first the device's clock, corrected by what servers say.
    public static var coordinator: any TimeCoordinator {
        get { currentCoordinator.withLock { $0 } }
        set { currentCoordinator.withLock { $0 = newValue } }
    }

    /// The time now by the ``coordinator``.
    public static var nowCoordinated: Date { coordinator.now }

    /// This reading of the device's clock in the time of the ``coordinator``.
    public var coordinated: Date { Self.coordinator.date(from: self) }
}

/// The device's clock, corrected by the offset that was last seen in a server's `Date` header.
///
/// Safe from any thread.
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

/// A source of the time and of waiting, which an ``OAuth2Client`` takes when it is made.
///
/// Tests and sandboxes give one that they move by hand; then nothing in the client waits for real.
public protocol OAuth2Clock: TimeCoordinator {
    /// Waits.
    ///
    /// - Parameter interval: For how many seconds; zero and less return at once.
    /// - Throws: `CancellationError` if the task is cancelled while it waits.
    func sleep(for interval: TimeInterval) async throws
}

extension OAuth2Clock {
    /// The reading itself: the clock is taken to be right.
    public func date(from date: Date) -> Date { date }
}

/// The device's own clock.
public struct DeviceClock: OAuth2Clock {
    /// The device's own clock.
    public init() {}

    /// The time of the device.
    public var now: Date { Date() }

    /// Waits on the device's clock, which runs on while the device sleeps.
    ///
    /// - Parameter interval: For how many seconds; zero and less return at once.
    /// - Throws: `CancellationError` if the task is cancelled while it waits.
    public func sleep(for interval: TimeInterval) async throws {
        try Task.checkCancellation()
        guard interval > 0 else { return }
        // A year is more than any wait of ours, and far from the numbers that can't be counted in nanoseconds.
        try await Task.sleep(for: .seconds(min(interval, 365 * 86_400)), clock: .continuous)
    }
}

/// Dates as HTTP headers carry them (RFC 9110, 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
package enum HTTPDate {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// - Returns: nil if the text is not in the one format that servers may send.
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

    /// Four digits, so that no arithmetic with dates comes near its limits.
    private static func year(_ text: Substring) -> Int? {
        text.utf8.count == 4 && text.utf8.allSatisfy { (48...57).contains($0) } ? Int(text) : nil
    }
}
