internal import Metrics

/// Counts pushes by environment and outcome: `countersign_pushes_total`. No label names a device, an app or a person.
struct PushMetrics: Sendable {
    private enum Name: String, CaseIterable {
        case delivered, tokenDead = "token_dead", refused, gaveUp = "gave_up", dropped

        init(_ outcome: PushOutcome) {
            switch outcome {
            case .delivered: self = .delivered
            case .tokenDead: self = .tokenDead
            case .refused: self = .refused
            case .gaveUp: self = .gaveUp
            case .dropped: self = .dropped
            }
        }
    }

    private let counters: [PushEnvironment: [Name: Counter]]

    /// Makes the counters, all of them, so that each is seen at 0.
    init(factory: any MetricsFactory) {
        let pairs = PushEnvironment.allCases.map { environment in
            let byName = Name.allCases.map { name in
                let dimensions = [("environment", environment.rawValue), ("outcome", name.rawValue)]
                return (name, Counter(label: "countersign_pushes_total", dimensions: dimensions, factory: factory))
            }
            return (environment, Dictionary(uniqueKeysWithValues: byName))
        }
        counters = Dictionary(uniqueKeysWithValues: pairs)
    }

    /// Notes how a push ended.
    func record(_ outcome: PushOutcome, _ environment: PushEnvironment) {
        counters[environment]?[Name(outcome)]?.increment()
    }
}
