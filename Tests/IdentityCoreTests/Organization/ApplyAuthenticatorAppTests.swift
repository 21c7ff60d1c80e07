import Foundation
import Testing

@testable import IdentityCore
@testable import Store

@Suite("Authenticator apps in an applied definition")
struct ApplyAuthenticatorAppTests {
    private static let secret = Array("12345678901234567890".utf8)
    private static let other = Array("abcdefghijklmnopqrst".utf8)

    private func apply(
        _ org: SignInFixture, _ secret: [UInt8]?, replaces: Bool = false
    ) async throws -> ApplyReport {
        var definition = SignInFixture.definition
        definition.users[0].totpSecret = secret.map(Base32.encode)
        return try await org.engine.apply(
            definition, options: ApplyOptions(replacesPasswords: replaces), context: SignInFixture.context(at: 1))
    }

    private func secrets(_ org: SignInFixture) async throws -> [[UInt8]] {
        let id = try await org.stored().value.id
        let environment = org.engine.environment
        return try await org.store.read { view in
            try view.records(.enrollment, where: "user", is: id, limit: 10).map(Enrollment.init).compactMap {
                try $0.totp?.secret(ofEnrollment: $0.id, environment: environment)
            }
        }
    }

    @Test("Applying a definition enrolls a user's authenticator app once and stores its secret only encrypted")
    func brings() async throws {
        let org = try await SignInFixture()
        #expect(try await apply(org, Self.secret).count(.changed) == 1)
        #expect(try await secrets(org) == [Self.secret])
        #expect(try await apply(org, Self.secret).isUnchanged)
        let log = try await org.store.read { try $0.allRecords(.logEvent).map { String(decoding: $0.payload, as: UTF8.self) } }
        #expect(log.count { $0.contains("user.mfa.factor.activate") } == 1)
        let (bytes, text) = (Self.secret, Array(Base32.encode(Self.secret).utf8))
        let payloads = try await org.store.read { view in
            try [RecordKind.user, .enrollment, .logEvent].flatMap { try view.allRecords($0).map(\.payload) }
        }
        #expect(!payloads.contains { $0.firstRange(of: bytes) != nil || $0.firstRange(of: text) != nil })
    }

    @Test("Applying a definition keeps an authenticator app that was granted later, unless replacesPasswords is set")
    func keeps() async throws {
        let org = try await SignInFixture()
        let id = try await org.stored().value.id
        _ = try await apply(org, Self.secret)
        _ = try await org.engine.grantAuthenticatorApp(userID: id, context: SignInFixture.context(at: 2))
        let own = try await secrets(org)
        #expect(try await apply(org, Self.secret).isUnchanged && own != [Self.secret])
        let report = try await apply(org, Self.other)
        #expect(report.entries.contains { $0.note == "authenticator app differs from the one last applied; the user keeps theirs" })
        #expect(try await secrets(org) == own)
        _ = try await apply(org, Self.other, replaces: true)
        #expect(try await secrets(org) == [Self.other])
        _ = try await apply(org, nil, replaces: true)
        #expect(try await secrets(org) == [Self.other])
    }
}
