public import Delivery
public import Foundation
internal import IdentityCore

extension Sandbox {
    /// Enrolls a phone number or mail address as a user's second factor without the enrollment dialog. The factor's codes arrive in
    /// ``outbox``.
    ///
    /// ```swift
    /// try await sandbox.addCodeFactor(.text, to: "+1 555 123 4821", for: "jane.doe@example.com")
    /// ```
    ///
    /// - Parameter destination: A phone number in international form, or a mail address.
    /// - Returns: The factor's ID.
    /// - Throws: ``FactorError``; errors of the store.
    @discardableResult
    public func addCodeFactor(_ channel: MessageChannel, to destination: String, for login: String) async throws -> String {
        let way: CodeChannel
        let place: CodeDestination?
        switch channel {
        case .mail: (way, place) = (.email, MailAddress(destination).map { CodeDestination($0) })
        case .text: (way, place) = (.sms, PhoneNumber(destination).map { CodeDestination($0) })
        case .call: (way, place) = (.voice, PhoneNumber(destination).map { CodeDestination($0) })
        }
        guard let place else {
            throw FactorError(
                .unreadableDestination, "“\(destination)” is no number in international form, such as +1 555 123 4821, or no mail address.")
        }
        let context = RequestContext(now: clock.now, requestID: "sandbox-code-factor")
        guard let id = try await engine.user(login: login)?.id,
            let factor = try await engine.grantCodeFactor(way, to: place, userID: id, context: context)
        else { throw Self.unknownUser(login) }
        return factor
    }

    /// Enrolls a security question for a user without the enrollment dialog.
    /// - Parameters:
    ///   - key: The question's key, such as `first_award`.
    ///   - answer: The answer: at least four characters, and no part of the question.
    /// - Returns: The factor's ID.
    /// - Throws: ``FactorError``; errors of the store.
    @discardableResult
    public func addSecurityQuestion(_ key: String, answer: String, for login: String) async throws -> String {
        let context = RequestContext(now: clock.now, requestID: "sandbox-question")
        guard let id = try await engine.user(login: login)?.id else { throw Self.unknownUser(login) }
        guard let factor = try await engine.grantQuestion(key, answer: answer, userID: id, context: context) else {
            throw FactorError(.unusableQuestion, "There is no question “\(key)”, or its answer has less than four characters.")
        }
        return factor
    }

    private static func unknownUser(_ login: String) -> FactorError {
        FactorError(.unknownPerson, "The sandbox has no user \(login). Add the user first.")
    }
}

/// A failure to add a factor to a user or to activate a user. Two errors are equal if their codes are equal.
public struct FactorError: LocalizedError, Equatable, Sendable, CustomStringConvertible {
    /// The reason of the failure. Later versions may add reasons.
    public struct Code: Hashable, Sendable, RawRepresentable {
        /// The name of the reason.
        public let rawValue: String

        /// Creates a code from its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// No user has this login, or the user to activate can already sign in.
        public static let unknownPerson = Code(rawValue: "unknownPerson")
        /// The destination is neither a number in international form nor a mail address.
        public static let unreadableDestination = Code(rawValue: "unreadableDestination")
        /// The question does not exist, or the answer is not acceptable.
        public static let unusableQuestion = Code(rawValue: "unusableQuestion")
        /// The URI is invalid for an authenticator app.
        public static let unreadableURI = Code(rawValue: "unreadableURI")
        /// The organization does not offer passkeys, or the challenge is for other passkeys.
        public static let wrongPasskey = Code(rawValue: "wrongPasskey")
        /// The organization does not offer recovery codes.
        public static let noRecoveryCodes = Code(rawValue: "noRecoveryCodes")
    }

    /// The error code.
    public let code: Code
    /// The problem and its solution.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The code and the message.
    public var description: String { "\(code.rawValue): \(message)" }
    /// The message.
    public var errorDescription: String? { message }
    /// Whether two errors have the same code.
    public static func == (lhs: FactorError, rhs: FactorError) -> Bool { lhs.code == rhs.code }
}
