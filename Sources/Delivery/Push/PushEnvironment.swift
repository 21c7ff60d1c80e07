/// Which of the push service's two worlds a device token belongs to (device-authenticator reference 9.1).
///
/// A token of one is unknown in the other.
public enum PushEnvironment: String, Sendable, Hashable, CaseIterable {
    /// Apps from the store and test distribution.
    case production
    /// Apps that a developer's machine signed.
    case development
}
