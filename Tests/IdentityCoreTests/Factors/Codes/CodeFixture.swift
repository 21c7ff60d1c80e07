import Foundation
import JOSE
import Testing

@testable import IdentityCore
@testable import OAuthEndpoints
@testable import Store

/// An organization whose users can get codes by text, call and mail.
struct CodeFixture {
    static let number = "+15551234821"

    let organization: PushFixture
    var engine: Engine { organization.engine }

    init(_ channels: [CodeChannel] = [.sms], store: any Store = InMemoryStore()) async throws {
        organization = try await PushFixture(store: store)
        for channel in channels { try await grant(channel) }
    }

    func grant(_ channel: CodeChannel, to login: String = PushFixture.jane, number: String = number) async throws {
        let destination =
            try channel == .email
            ? CodeDestination(#require(MailAddress(login))) : CodeDestination(#require(PhoneNumber(number)))
        _ = try await engine.grantCodeFactor(
            channel, to: destination, userID: organization.userID(login), context: PushFixture.context(0))
    }

    /// Requests a code after a correct password.
    func ask(
        _ mfaToken: String, by channel: String = "sms", client: String = "direct-app", at seconds: TimeInterval = 11
    ) async throws -> Result<StartedChallenge, Refusal> {
        try await organization.challenge(mfaToken, client: client, at: seconds, ["channel_hint": channel])
    }

    func sentCode(
        _ mfaToken: String, by channel: String = "sms", at seconds: TimeInterval = 11
    ) async throws -> (oobCode: String, message: OutgoingMessage, code: String) {
        let started = try await ask(mfaToken, by: channel, at: seconds).get()
        let message = try #require(organization.outbox.messages.last)
        return (try #require(started.members["oob_code"]?.stringValue), message, try #require(message.code))
    }

    func present(
        _ code: String?, _ oobCode: String, _ mfaToken: String, client: String = "direct-app", at seconds: TimeInterval = 20
    ) async throws -> Result<TokenResponse, Refusal> {
        var parameters = ["grant_type": PushFixture.secondFactor, "mfa_token": mfaToken, "oob_code": oobCode]
        parameters["binding_code"] = code
        return try await organization.token(parameters, client: client, at: seconds)
    }

    static func other(than code: String) -> String { code == "000000" ? "111111" : "000000" }

    func enrollments() async throws -> [Enrollment] {
        let id = try await organization.userID()
        return try await organization.store.read { try $0.records(.enrollment, where: "user", is: id, limit: 100).map(Enrollment.init) }
    }
}
