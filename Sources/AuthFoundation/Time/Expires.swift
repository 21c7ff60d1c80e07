public import Foundation

/// Something that is good for a while.
public protocol Expires {
    /// For how many seconds it is good, counted from ``issuedAt``.
    var expiresIn: TimeInterval { get }

    /// When it was made, if that is known.
    var issuedAt: Date? { get }

    /// When it ends, if that is known.
    var expiresAt: Date? { get }

    /// Whether it has ended; false if its end is not known.
    var isExpired: Bool { get }

    /// Whether it is still good.
    var isValid: Bool { get }
}

extension Expires {
    /// The time of issue and the seconds that it is good for.
    public var expiresAt: Date? { issuedAt?.addingTimeInterval(expiresIn) }

    /// Whether the end lies before now, by `Date.coordinator`.
    public var isExpired: Bool {
        guard let expiresAt else { return false }
        return expiresAt <= Date.nowCoordinated
    }

    /// Whether it is not expired.
    public var isValid: Bool { !isExpired }
}
