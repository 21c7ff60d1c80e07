internal import Observation

/// The successive values of an observable property.
@MainActor
public final class History<Value: Equatable> {
    /// The values without repetitions.
    public var values: [Value] {
        note(read())
        return noted
    }

    private var noted: [Value] = []
    private let read: @MainActor () -> Value

    /// Observes a value as long as this object lives.
    ///
    /// - Parameter read: Reads the value.
    public init(_ read: @escaping @MainActor () -> Value) {
        self.read = read
        follow()
    }

    private func follow() {
        let value = withObservationTracking(read) { [weak self] in
            // The callback precedes the change, so the value is read afterwards.
            Task { @MainActor in self?.follow() }
        }
        note(value)
    }

    private func note(_ value: Value) {
        if noted.last != value { noted.append(value) }
    }
}
