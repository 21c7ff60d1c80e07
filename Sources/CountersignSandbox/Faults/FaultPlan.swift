internal import NIOConcurrencyHelpers

/// The faults that are still to happen, in the order in which they were injected.
final class FaultPlan: Sendable {
    private let faults = NIOLockedValueBox<[Fault]>([])

    var pending: [Fault] { faults.withLockedValue { $0 } }

    func add(_ fault: Fault) {
        guard fault.count > 0 else { return }
        faults.withLockedValue { $0.append(fault) }
    }

    func clear() {
        faults.withLockedValue { $0 = [] }
    }

    /// The fault that a request to an endpoint meets; it is used up by that.
    func take(at endpoint: Fault.Endpoint) -> Fault.Effect? {
        faults.withLockedValue { faults in
            guard let index = faults.firstIndex(where: { $0.endpoint.matches(endpoint) }) else { return nil }
            let effect = faults[index].effect
            faults[index].count -= 1
            if faults[index].count == 0 { faults.remove(at: index) }
            return effect
        }
    }
}
