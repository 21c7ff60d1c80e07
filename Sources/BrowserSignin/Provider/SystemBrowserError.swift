package import AuthFoundation
public import Foundation
internal import JOSE

/// An error of the user's own browser in a sign-in or sign-out. ``BrowserSigninError/authenticationProvider(error:)`` wraps this error.
public enum SystemBrowserError: Error, Equatable, Sendable {
    /// The loopback port for the redirect cannot be used. `port` is `nil` if any free port was allowed.
    case cannotListen(port: UInt16?, reason: String)
    /// No browser could be started with these commands. The list is empty if the URL is not http or https.
    case cannotOpen(commands: [String])
    /// The browser did not return in time.
    case timedOut(seconds: TimeInterval)
}

extension SystemBrowserError: LocalizedError, CustomDebugStringConvertible, ClientError {
    /// A sentence for the user, in the user's language.
    public var errorDescription: String? { userText.description.text }

    /// The next step for the user, in the user's language; `nil` if there is none.
    public var recoverySuggestion: String? { userText.suggestion?.text }

    package var userText: ErrorText {
        switch self {
        case .cannotListen:
            ErrorText(
                "The browser could not be connected to this app.", de: "Der Browser konnte nicht mit dieser App verbunden werden.",
                next: LocalizedText(
                    "Close other windows of this app, then try again.",
                    de: "Schließen Sie andere Fenster dieser App und versuchen Sie es erneut."))
        case .cannotOpen:
            ErrorText(
                ErrorText.browserNotOpened.description,
                next: LocalizedText(
                    "Set a default browser on this device, then try again.",
                    de: "Legen Sie auf diesem Gerät einen Standardbrowser fest und versuchen Sie es erneut."))
        case .timedOut:
            ErrorText(
                "You did not finish in the browser in time.", de: "Sie haben den Vorgang im Browser nicht rechtzeitig abgeschlossen.",
                next: .tryAgain)
        }
    }

    /// The reason and a remedy, for developers.
    public var debugDescription: String {
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
