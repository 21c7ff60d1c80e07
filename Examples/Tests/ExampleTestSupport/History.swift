internal import Observation

/// The values that something observable has had, one after the other.
@MainActor
public final class History<Value: Equatable> {
    /// The values, each other than the one before.
    public var values: [Value] {
        note(read())
        return noted
    }

    private var noted: [Value] = []
    private let read: @MainActor () -> Value

    /// Follows a value as long as this object lives.
    ///
    /// - Parameter read: Reads the value.
    public init(_ read: @escaping @MainActor () -> Value) {
        self.read = read
        follow()
    }

    private func follow() {
        let value = withObservationTracking(read) { [weak self] in
            // Told before the change; read after it.
            Task { @MainActor in self?.follow() }
        }
        note(value)
    }

    private func note(_ value: Value) {
        if noted.last != value { noted.append(value) }
    }
}
