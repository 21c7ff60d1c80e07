public import Delivery
internal import Foundation
internal import IdentityCore

extension Sandbox {
    /// Enrolls a phone number or mail address as a user's second factor without the enrollment dialog. Its codes arrive in ``outbox``.
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
        else { throw Self.nobody(login) }
        return factor
    }

    /// Enrolls a security question for a user without the enrollment dialog.
    /// - Parameters:
    ///   - key: The question's key, such as `first_award`.
    ///   - answer: At least four characters, and no part of the question.
    /// - Returns: The factor's ID.
    /// - Throws: ``FactorError``; errors of the store.
    @discardableResult
    public func addSecurityQuestion(_ key: String, answer: String, for login: String) async throws -> String {
        let context = RequestContext(now: clock.now, requestID: "sandbox-question")
        guard let id = try await engine.user(login: login)?.id else { throw Self.nobody(login) }
        guard let factor = try await engine.grantQuestion(key, answer: answer, userID: id, context: context) else {
            throw FactorError(.unusableQuestion, "There is no question “\(key)”, or its answer has less than four characters.")
        }
        return factor
    }

    private static func nobody(_ login: String) -> FactorError {
        FactorError(.unknownPerson, "There is nobody with the login \(login). Add them to the sandbox first.")
    }
}
