public import Foundation
internal import JOSE

/// The person's own browser could not be used for a sign-in or sign-out. It comes inside of
/// ``BrowserSigninError/authenticationProvider(error:)``.
public enum SystemBrowserError: Error, Equatable, Sendable {
    /// The port at the loopback address, which the redirect goes to, can't be used; nil for any.
    case cannotListen(port: UInt16?, reason: String)
    /// No browser could be started. These were tried.
    case cannotOpen(commands: [String])
    /// The browser was not redirected in time.
    case timedOut(seconds: TimeInterval)
}

extension SystemBrowserError: LocalizedError {
    /// What happened, and what to do next.
    public var errorDescription: String? {
        switch self {
        case .cannotListen(nil, let reason): "No port of this machine can be used for the browser's return: \(reason)."
        case .cannotListen(let port?, let reason):
            "Port \(port), to which the browser returns, can't be used: \(reason). Set a “redirectUri” without a port to use any free one."
        case .cannotOpen(let commands):
            "No browser could be opened (tried: \(commands.joined(separator: ", "))). Set the variable BROWSER to the command that opens one."
        case .timedOut(let seconds): "The browser did not return within \(Int(clamping: min(max(seconds, 0), 1e9))) seconds. Begin again."
        }
    }
}
