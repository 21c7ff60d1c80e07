public import Delivery
public import Foundation
internal import IdentityEngine

/// Why a person did not get a factor. Two errors are equal when their codes are.
public struct CodeFactorError: LocalizedError, Equatable, Sendable, CustomStringConvertible {
    /// A reason; more may be added in later versions.
    public struct Code: Hashable, Sendable, RawRepresentable {
        /// The name of the reason.
        public let rawValue: String

        /// Makes a code from its name.
        ///
        /// - Parameter rawValue: The name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// There is nobody with that login.
        public static let unknownPerson = Code(rawValue: "unknownPerson")
        /// It is no number in international form, or no address.
        public static let unreadableDestination = Code(rawValue: "unreadableDestination")
        /// There is no such question, or the answer will not do.
        public static let unusableQuestion = Code(rawValue: "unusableQuestion")
    }

    /// The reason, for programs.
    public let code: Code
    /// What is wrong and what to do about it.
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
    public static func == (lhs: CodeFactorError, rhs: CodeFactorError) -> Bool { lhs.code == rhs.code }
}

extension Sandbox {
    /// Gives a person a telephone or a mailbox that codes are sent to, without the ceremony that sets one up: from now on it is a second
    /// factor of theirs. What is sent arrives in ``outbox``.
    ///
    /// ```swift
    /// try await sandbox.addCodeFactor(.text, to: "+1 555 123 4821", for: "jane.doe@example.com")
    /// ```
    ///
    /// - Parameters:
    ///   - channel: The way that codes take.
    ///   - destination: A number in international form, or an address.
    ///   - login: Whose it is.
    /// - Returns: The factor's id.
    /// - Throws: ``CodeFactorError``; or what the store throws.
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
            throw CodeFactorError(
                .unreadableDestination, "“\(destination)” is no number in international form, such as +1 555 123 4821, or no mail address.")
        }
        let context = RequestContext(now: clock.now, requestID: "sandbox-code-factor")
        guard let id = try await engine.user(login: login)?.id,
            let factor = try await engine.grantCodeFactor(way, to: place, userID: id, context: context)
        else { throw Self.nobody(login) }
        return factor
    }

    /// Gives a person a security question, without the ceremony that sets one up.
    ///
    /// - Parameters:
    ///   - key: The question's key, such as `first_award`.
    ///   - answer: At least four characters, and no part of the question.
    ///   - login: Whose it is.
    /// - Returns: The factor's id.
    /// - Throws: ``CodeFactorError``; or what the store throws.
    @discardableResult
    public func addSecurityQuestion(_ key: String, answer: String, for login: String) async throws -> String {
        let context = RequestContext(now: clock.now, requestID: "sandbox-question")
        guard let id = try await engine.user(login: login)?.id else { throw Self.nobody(login) }
        guard let factor = try await engine.grantQuestion(key, answer: answer, userID: id, context: context) else {
            throw CodeFactorError(.unusableQuestion, "There is no question “\(key)”, or its answer has less than four characters.")
        }
        return factor
    }

    private static func nobody(_ login: String) -> CodeFactorError {
        CodeFactorError(.unknownPerson, "There is nobody with the login \(login). Add them to the sandbox first.")
    }
}
