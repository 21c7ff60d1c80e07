internal import IdentityEngine
internal import Logging
internal import Metrics

/// Counts signs of attacks on the organization in `countersign_security_signals_total`. Logs a warning for those that need an operator's
/// attention.
struct SignalMetrics: Sendable {
    private let counters: [SecuritySignal: Counter]
    private let logger: Logger

    init(logger: Logger, factory: any MetricsFactory = MetricsSystem.factory) {
        self.logger = logger
        counters = Dictionary(
            uniqueKeysWithValues: SecuritySignal.allCases.map {
                ($0, Counter(label: "countersign_security_signals_total", dimensions: [("signal", $0.rawValue)], factory: factory))
            })
    }

    /// Counts one signal.
    func record(_ signal: SecuritySignal) {
        counters[signal]?.increment()
        switch signal {
        case .wrongRecoveryGuess: break
        case .recoveryBudgetSpent:
            logger.warning(
                """
                Too many wrong codes and answers in account recoveries within an hour: somebody guesses at many accounts. Until the hour is \
                over, only users at a known device or network recover. Look for user.account.recovery in the system log.
                """)
        }
    }
}
