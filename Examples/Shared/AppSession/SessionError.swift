public import Foundation
internal import Wording

/// An error that ends a sign-in or a session, with a text for the user.
public struct SessionError: LocalizedError, Equatable, Sendable {
    /// The kind of the error, for programs.
    public enum Code: Sendable {
        case notConfigured, secondFactorRequired, noPush, unknownStep, sessionEnded
    }

    /// The kind of the error.
    public let code: Code
    private let message: String

    /// The problem and, if there is one, its remedy.
    public var errorDescription: String? { message }

    /// The reason is in English, for the developer who starts the app without settings.
    static func notConfigured(_ reason: any Error, _ wording: Wording) -> SessionError {
        SessionError(code: .notConfigured, message: wording("This app is not configured. %@", String(reflecting: reason)))
    }

    static func secondFactorRequired(_ wording: Wording) -> SessionError {
        SessionError(
            code: .secondFactorRequired,
            message: wording("This account requires a second factor, which this app does not support. Use another app."))
    }

    static func noPush(_ wording: Wording) -> SessionError {
        SessionError(
            code: .noPush,
            message: wording("This account has no device that can approve the sign-in. Set one up, then sign in again."))
    }

    static func unknownStep(_ wording: Wording) -> SessionError {
        SessionError(code: .unknownStep, message: wording("The server requires a step that this app does not support."))
    }

    static func sessionEnded(_ wording: Wording) -> SessionError {
        SessionError(code: .sessionEnded, message: wording("Your session has ended. Sign in again."))
    }
}
