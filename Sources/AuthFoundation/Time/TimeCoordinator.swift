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
