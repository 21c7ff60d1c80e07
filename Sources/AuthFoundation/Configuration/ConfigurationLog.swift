import Foundation

#if canImport(os)
import os
#endif

/// Tells the developer about a setting that works but should be mended: in the system's log, else on the standard error.
package enum ConfigurationLog {
    private static let said = Locked<Set<String>>([])

    /// Says it unless it has been said in this process.
    ///
    /// - Returns: Whether it was said.
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
