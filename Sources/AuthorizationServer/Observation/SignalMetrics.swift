internal import IdentityEngine
internal import Logging
internal import Metrics

/// Counts the signs of attacks on the organization, `countersign_security_signals_total`, and warns in the process log of those that an
/// operator should look at.
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

    /// Notes one signal.
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
