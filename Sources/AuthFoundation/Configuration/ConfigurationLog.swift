import Foundation

#if canImport(os)
import os
#endif

/// Logs settings that work but that the developer should correct: to the system log, else to standard error.
package enum ConfigurationLog {
    private static let said = Locked<Set<String>>([])

    /// Logs a message once per process. Returns whether it was logged by this call.
    @discardableResult
    package static func once(_ message: String) -> Bool {
        guard said.withLock({ $0.insert(message).inserted }) else { return false }
        #if canImport(os)
        Logger(subsystem: "countersign", category: "configuration").notice("\(message, privacy: .public)")
        #else
        FileHandle.standardError.write(Data("countersign: \(message)\n".utf8))
        #endif
        return true
    }
}
