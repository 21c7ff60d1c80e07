import Crypto
import Foundation
import JOSE
import Testing

@testable import AuthnAPI
@testable import IdentityCore
@testable import OAuthEndpoints
@testable import Store

/// An organization that holds each kind of secret under the earlier master key (bytes of 7), and engines with other keys over its store.
/// The new master key consists of bytes of 8.
struct RotationFixture {
    static let earlier = key(7)
    static let new = key(8)
    static let seed = Array("12345678901234567890".utf8)

    let store: any Store
    let app: AppFixture

    private static func key(_ byte: UInt8) -> SymmetricKey { SymmetricKey(data: [UInt8](repeating: byte, count: 32)) }

    /// - Parameter isOld: Whether the store has the check record of an earlier version.
    init(store: any Store, isOld: Bool = false, _ change: @escaping (inout OrganizationDefinition) -> Void = { _ in }) async throws {
        self.store = store
        if isOld { try await Self.makeOld(store) }
        app = try await AppFixture(store: store) {
            Self.prepare(&$0)
            change(&$0)
        }
        let id = try await app.organization.userID(PushFixture.john)
        _ = try await app.engine.assignHardwareDevice(secret: Self.seed, credentialID: "4711", userID: id, context: Self.context())
        _ = try await store.commit([.put(try signIn().record())])
    }

    static func prepare(_ definition: inout OrganizationDefinition) {
        definition.classic = ClassicPolicy(signOnPolicy: "two factors", factors: [.sms: .optional])
        definition.authenticators[0].credentials = .init(
            teamID: "ABCDE12345", keyID: "FGHIJ67890", privateKey: P256.Signing.PrivateKey().pemRepresentation, topic: "com.example.app")
        for index in definition.applications.indices where definition.applications[index].id == "phone-app" {
            definition.applications[index].grantTypes.append(GrantType.enrollmentTicket)
        }
    }

    /// Adds the check record of an earlier version, whose root is the master key.
    private static func makeOld(_ store: any Store) async throws {
        let check = RecordReference(.masterKeyCheck, "check")
        let sealed = try RecordCoding.seal(Array("countersign master key".utf8), for: check, environment: environment(MasterKeys(earlier)))
        let payload: JSONValue = ["sealed": .string(Base64URL.encode(sealed))]
        _ = try await store.commit([.put(Record(kind: check.kind, id: check.id, payload: payload.serialized()))])
    }

    /// A sign-in with a phone to enroll, which a recovery precedes.
    private func signIn() throws -> SignInTransaction {
        let environment = app.engine.environment
        var transaction = SignInTransaction(
            id: "txnrotation",
            request: SignInRequest(
                application: Application(id: "direct-app", name: "", kind: .native, signOnPolicy: "two factors"), server: nil, scopes: []),
            now: TestOrganization.start)
        let owner = RecordReference(.transaction, transaction.id)
        transaction.phone = PhoneTicket(
            authenticatorID: DeviceFixture.authenticatorID, digest: [1],
            sealedSecret: try RecordCoding.seal(Array("ticket".utf8), for: owner, environment: environment),
            expiresAt: transaction.expiresAt)
        transaction.recovery = Recovery(kind: .password, stage: .code)
        transaction.recovery?.page = try RecoveryPage(
            RecoveryBeginning(browser: "browser", signIn: "token", locales: []), of: transaction.id, environment: environment)
        return transaction
    }

    static func context(_ seconds: TimeInterval = 20) -> RequestContext {
        var context = PushFixture.context(seconds)
        context.administrator = "admin"
        return context
    }

    static func environment(_ keys: MasterKeys, seed: UInt64 = 5) -> EngineEnvironment {
        EngineEnvironment(random: SeededRandom(seed: seed), masterKeys: keys, passwordHasher: PasswordHasher())
    }

    func engine(_ keys: SymmetricKey..., store: (any Store)? = nil, seed: UInt64 = 5) throws -> Engine {
        let first = try #require(keys.first)
        let engine = Engine(
            store: store ?? self.store, environment: Self.environment(MasterKeys(first, others: Array(keys.dropFirst())), seed: seed))
        engine.courier = TestOutbox()
        return engine
    }

    /// Rotates the store to the new key.
    @discardableResult
    func rotate(_ seconds: TimeInterval = 20) async throws -> ResealReport {
        try await engine(Self.earlier, Self.new).reseal(
            with: MasterKeys(Self.new, others: [Self.earlier]), pageSize: 3, context: Self.context(seconds))
    }

    // MARK: - The whole store

    func records() async throws -> [Record] {
        try await store.read { view in try RecordKind.allCases.flatMap { try view.allRecords($0) } }
    }

    /// Returns the number of values in all records that a key decrypts, by kind. Considers every string and byte array of a payload, so
    /// that a secret in a member that the rotation does not know is found.
    func opened(by key: SymmetricKey) async throws -> [RecordKind: Int] {
        try await records().reduce(into: [:]) { counts, record in
            let data = Array("countersign \(record.kind.rawValue)/\(record.id)".utf8)
            for bytes in Self.values(try JSONValue(parsing: record.payload)) where bytes.count >= 28 {
                guard let box = try? AES.GCM.SealedBox(combined: bytes),
                    (try? AES.GCM.open(box, using: key, authenticating: data)) != nil
                else { continue }
                counts[record.kind, default: 0] += 1
            }
        }
    }

    private static func values(_ json: JSONValue) -> [[UInt8]] {
        if let text = json.stringValue {
            let bytes = (try? Base64URL.decode(text)) ?? Data(base64Encoded: text).map(Array.init)
            // Some members hold JSON in base64.
            let inner = bytes.flatMap { try? JSONValue(parsing: $0) }.map(values) ?? []
            return (bytes.map { [$0] } ?? []) + inner
        }
        if let list = json.arrayValue {
            let bytes = list.compactMap(\.intValue).compactMap(UInt8.init(exactly:))
            return (bytes.count == list.count ? [bytes] : []) + list.flatMap(values)
        }
        return json.objectValue?.values.flatMap(values) ?? []
    }
}
