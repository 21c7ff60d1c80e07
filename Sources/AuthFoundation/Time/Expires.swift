public import Foundation

/// A value with a limited lifetime.
public protocol Expires {
    /// The lifetime in seconds, counted from ``issuedAt``. For a ``JWT``, the seconds until the expiry.
    var expiresIn: TimeInterval { get }

    /// The time of issue; `nil` if it is unknown.
    var issuedAt: Date? { get }

    /// The expiry time; `nil` if it is unknown.
    var expiresAt: Date? { get }

    /// Whether the value has expired. False if the expiry time is unknown.
    var isExpired: Bool { get }

    /// Whether the value is not expired.
    var isValid: Bool { get }
}

extension Expires {
    /// The time of issue plus the lifetime.
    public var expiresAt: Date? { issuedAt?.addingTimeInterval(expiresIn) }

    /// Whether the expiry time is in the past according to `Date.coordinator`.
    public var isExpired: Bool {
        guard let expiresAt else { return false }
        return expiresAt <= Date.nowCoordinated
    }

    /// Whether the value is not expired.
    public var isValid: Bool { !isExpired }
}
