internal import Observation

/// A history of the successive values of an observable property.
@MainActor
public final class History<Value: Equatable> {
    /// The values without repetitions.
    public var values: [Value] {
        note(read())
        return noted
    }

    private var noted: [Value] = []
    private let read: @MainActor () -> Value

    /// Creates a history, which observes a value as long as it lives.
    ///
    /// - Parameter read: Reads the value.
    public init(_ read: @escaping @MainActor () -> Value) {
        self.read = read
        follow()
    }

    private func follow() {
        let value = withObservationTracking(read) { [weak self] in
            // The callback runs before the change, so the value is read in a later task.
            Task { @MainActor in self?.follow() }
        }
        note(value)
    }

    private func note(_ value: Value) {
        if noted.last != value { noted.append(value) }
    }
}
