import Foundation
import Testing

@testable import AuthnAPI
@testable import IdentityCore
@testable import Store

@Suite("HOTP devices in the classic API")
struct ClassicHardwareTests {
    private static let secret = Array("12345678901234567890".utf8)

    private static func desk(_ change: (inout OrganizationDefinition) -> Void = { _ in }) async throws -> ClassicTestClient {
        try await ClassicTestClient(ClassicPolicy(signOnPolicy: "two factors")) {
            $0.passwordPolicy.lockoutAttempts = 5
            change(&$0)
        }
    }

    private static func code(_ counter: Int64) -> String { TimeBasedCode.code(secret: secret, step: counter) }

    private static func assign(_ desk: ClassicTestClient, counter: Int64 = 0) async throws -> String {
        try #require(
            try await desk.engine.assignHardwareDevice(
                secret: secret, credentialID: "4711", counter: counter, userID: desk.jane().id, context: desk.context))
    }

    @Test("An HOTP code is valid once, and a used or skipped code is rejected with E0000082")
    func once() async throws {
        let desk = try await Self.desk()
        let id = try await Self.assign(desk)
        let status = try await desk.signIn()
        let factor = try #require(status.factors?.first)
        #expect(factor.type == "token:hotp" && factor.provider == "CUSTOM" && factor.profile == ["credentialId": "4711"])
        let asked = try desk.transaction(try await desk.verify(id, ClassicProof(), status.stateToken))
        #expect(asked.status == .factorChallenge && asked.next == .verify && !asked.canResend)
        #expect(try desk.transaction(try await desk.verify(id, ClassicProof(passCode: Self.code(3)), status.stateToken)).status == .success)
        let next = try await desk.signIn()
        for used in [Self.code(3), Self.code(0)] {
            #expect(try await desk.verify(id, ClassicProof(passCode: used), next.stateToken).refusal == "E0000082")
        }
        #expect(try desk.transaction(try await desk.verify(id, ClassicProof(passCode: Self.code(4)), next.stateToken)).status == .success)
    }

    @Test("Of several concurrent sign-ins with the same HOTP code, exactly one succeeds")
    func race() async throws {
        let desk = try await Self.desk()
        let id = try await Self.assign(desk)
        let tokens = try await [desk.signIn(), desk.signIn(), desk.signIn()].map { $0.stateToken ?? "" }
        let right = try await withThrowingTaskGroup(of: Bool.self) { [engine = desk.engine, context = desk.context] group in
            for token in tokens {
                group.addTask {
                    let answer = try await engine.classicVerify(
                        factorID: id, ClassicProof(passCode: Self.code(0)), stateToken: token, context: context)
                    return answer.refusal == nil
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(right == 1)
    }

    @Test("Two consecutive codes resynchronize an HOTP device whose counter is ahead of the server's counter")
    func resynchronized() async throws {
        let desk = try await Self.desk()
        let id = try await Self.assign(desk)
        let status = try await desk.signIn()
        func type(_ counter: Int64) async throws -> Result<ClassicAnswer, ClassicRefusal> {
            try await desk.verify(id, ClassicProof(passCode: Self.code(counter)), status.stateToken)
        }
        // A code that is too far ahead gets the same response as any wrong code, so the response reveals nothing.
        let (ahead, wrong) = (try await type(40), try await desk.verify(id, ClassicProof(passCode: "x"), status.stateToken))
        #expect(ahead.failure == wrong.failure && ahead.refusal == "E0000068")
        #expect(try await type(42).refusal == "E0000068")
        #expect(try desk.transaction(try await type(43)).status == .success)
        #expect(
            try desk.transaction(try await desk.verify(id, ClassicProof(passCode: Self.code(44)), desk.signIn().stateToken)).status
                == .success)
    }

    @Test("Five wrong HOTP codes lock the account, even if they are later codes of the device")
    func guessed() async throws {
        let desk = try await Self.desk()
        let id = try await Self.assign(desk)
        let status = try await desk.signIn()
        for counter in [20, 30, 40, 50] as [Int64] {
            #expect(try await desk.verify(id, ClassicProof(passCode: Self.code(counter)), status.stateToken).refusal == "E0000068")
        }
        #expect(try await desk.verify(id, ClassicProof(passCode: Self.code(60)), status.stateToken).refusal == "E0000069")
        #expect(try await desk.jane().lockedAt != nil)
    }

    @Test("Applying an org file adds an HOTP device or replaces a changed device, and validation rejects an invalid device")
    func fromFile() async throws {
        func definition(_ counter: Int64, secret: String = Base32.encode(Self.secret)) -> (inout OrganizationDefinition) -> Void {
            { definition in
                definition.users[0].hardwareDevice = .init(secret: secret, credentialID: "4711", counter: counter)
            }
        }
        let desk = try await Self.desk(definition(7))
        let id = try #require(try await desk.signIn().factors?.first?.id)
        #expect(
            try desk.transaction(try await desk.verify(id, ClassicProof(passCode: Self.code(7)), desk.signIn().stateToken)).status
                == .success)
        var definition2 = TestOrganization.definition
        definition2.classic = ClassicPolicy(signOnPolicy: "two factors")
        definition(7)(&definition2)
        // Applying the same file again changes nothing: used codes stay consumed.
        _ = try await desk.engine.apply(definition2, context: desk.context)
        #expect(try await desk.verify(id, ClassicProof(passCode: Self.code(7)), desk.signIn().stateToken).refusal == "E0000082")
        definition(90)(&definition2)
        _ = try await desk.engine.apply(definition2, context: desk.context)
        let next = try #require(try await desk.signIn().factors?.first?.id)
        #expect(next != id)
        #expect(
            try desk.transaction(try await desk.verify(next, ClassicProof(passCode: Self.code(90)), desk.signIn().stateToken)).status
                == .success)
        definition(0, secret: "MFXGCLLS")(&definition2)
        #expect(definition2.problems().contains { $0.message.contains("seed of a device") })
        definition(-1)(&definition2)
        #expect(definition2.problems().contains { $0.message.contains("seed of a device") })
    }

    /// Returns an organization file in which Jane and John have these devices; `nil` for none.
    private static func definition(
        jane: UserDefinition.HardwareDevice?, john: UserDefinition.HardwareDevice? = nil
    ) -> OrganizationDefinition {
        var definition = TestOrganization.definition
        definition.classic = ClassicPolicy(signOnPolicy: "two factors")
        definition.users[0].hardwareDevice = jane
        definition.users.append(UserDefinition(login: "john.roe@example.com", password: "Battery-Staple-9", hardwareDevice: john))
        return definition
    }

    private static func device(_ credentialID: String = "4711", counter: Int64 = 0) -> UserDefinition.HardwareDevice {
        .init(secret: Base32.encode(secret), credentialID: credentialID, counter: counter)
    }

    /// Submits the code of Jane's device with this counter. Returns the error code; `nil` for a success.
    private static func use(_ counter: Int64, _ desk: ClassicTestClient) async throws -> String? {
        let status = try await desk.signIn()
        let id = try #require(status.factors?.first?.id)
        return try await desk.verify(id, ClassicProof(passCode: code(counter)), status.stateToken).refusal
    }

    @Test(
        "Applying an org file removes an HOTP device that the file no longer names, and keeps a device that an administrator assigned"
    )
    func takenAway() async throws {
        let desk = try await Self.desk()
        func apply(_ definition: OrganizationDefinition) async throws -> ApplyReport {
            try await desk.engine.apply(definition, context: desk.context)
        }
        let jane = try await desk.jane().id
        func devices() async throws -> [String] {
            try await desk.organization.store.read { view in
                try view.records(.enrollment, where: "user", is: jane, limit: 10).map(Enrollment.init).compactMap(\.hotp?.credentialID)
            }
        }
        _ = try await apply(Self.definition(jane: Self.device()))
        #expect(try await devices() == ["4711"])
        let report = try await apply(Self.definition(jane: nil))
        #expect(report.entries.contains { $0.note == "device taken away" })
        #expect(try await devices().isEmpty)
        #expect(try await apply(Self.definition(jane: nil)).isUnchanged)
        _ = try await apply(Self.definition(jane: Self.device()))
        var without = Self.definition(jane: nil)
        let definition = without.users.removeFirst()
        _ = try await apply(without)
        #expect(try await devices().isEmpty)
        without.users.insert(definition, at: 0)
        _ = try await apply(without)
        #expect(try await devices().isEmpty)
        // An administrator replaces the device afterwards.
        _ = try await apply(Self.definition(jane: Self.device()))
        _ = try #require(
            try await desk.engine.assignHardwareDevice(
                secret: Array("abcdefghijklmnopqrst".utf8), credentialID: "0815", userID: jane, context: desk.context))
        _ = try await apply(Self.definition(jane: nil))
        #expect(try await devices() == ["0815"])
    }

    @Test("A used HOTP code stays invalid after the device is renamed, removed and added again, or reassigned to another user")
    func staysUsed() async throws {
        let desk = try await Self.desk { $0.users[0].hardwareDevice = Self.device() }
        func apply(_ definition: OrganizationDefinition) async throws {
            _ = try await desk.engine.apply(definition, context: desk.context)
        }
        #expect(try await Self.use(5, desk) == nil)
        try await apply(Self.definition(jane: Self.device("the blue one")))
        #expect(try await Self.use(5, desk) == "E0000082")
        #expect(try await Self.use(6, desk) == nil)
        try await apply(Self.definition(jane: nil))
        try await apply(Self.definition(jane: Self.device()))
        #expect(try await Self.use(6, desk) == "E0000082")
        // A higher initial counter in the file takes effect.
        try await apply(Self.definition(jane: Self.device(counter: 50)))
        #expect(try await Self.use(7, desk) == "E0000068")
        #expect(try await Self.use(50, desk) == nil)
        _ = try await Self.assign(desk)
        #expect(try await Self.use(50, desk) == "E0000082")
        // Jane and John swap their devices.
        let other = UserDefinition.HardwareDevice(secret: Base32.encode(Array("abcdefghijklmnopqrst".utf8)), credentialID: "other")
        try await apply(Self.definition(jane: Self.device(), john: other))
        #expect(try await Self.use(51, desk) == nil)
        try await apply(Self.definition(jane: other, john: Self.device()))
        let counters = try await desk.organization.store.read { view in
            try view.allRecords(.enrollment).map(Enrollment.init).compactMap { $0.hotp.map { ($0.credentialID, $0.counter) } }
        }
        #expect(Dictionary(counters, uniquingKeysWith: { $1 }) == ["other": 0, "4711": 52])
        let twice = Self.definition(jane: Self.device(), john: Self.device("again")).problems()
        #expect(twice.contains { $0.message.contains("the same seed") })
    }

    /// Returns the counters of the assigned devices, by the login of their owner.
    private static func owners(_ desk: ClassicTestClient) async throws -> [String: Int64] {
        try await desk.organization.store.read { view in
            try view.allRecords(.enrollment).map(Enrollment.init).reduce(into: [:]) { owners, device in
                guard let hotp = device.hotp, let user = try view.record(.user, id: device.userID).map(StoredUser.init) else { return }
                owners[user.value.login] = hotp.counter
            }
        }
    }

    @Test("A reassigned HOTP device belongs only to the new user, and keeps its counter", arguments: [false, true])
    func givenAway(byFile: Bool) async throws {
        let desk = try await Self.desk()
        _ = try await desk.engine.apply(Self.definition(jane: nil), context: desk.context)
        _ = try await Self.assign(desk)
        #expect(try await Self.use(5, desk) == nil)
        let status = try await desk.signIn()
        let old = try #require(status.factors?.first?.id)
        if byFile {
            _ = try await desk.engine.apply(Self.definition(jane: nil, john: Self.device()), context: desk.context)
        } else {
            let john = try #require(try await desk.engine.user(login: "john.roe@example.com")?.id)
            _ = try #require(
                try await desk.engine.assignHardwareDevice(secret: Self.secret, credentialID: "new", userID: john, context: desk.context))
        }
        #expect(try await Self.owners(desk) == ["john.roe@example.com": 6])
        #expect(try await desk.verify(old, ClassicProof(passCode: Self.code(6)), status.stateToken).refusal != nil)
    }

    @Test(
        "An HOTP device whose record lacks a seed name is recognized in a reassignment, and its next use adds the name",
        arguments: [false, true])
    func unnamed(isUsed: Bool) async throws {
        let desk = try await Self.desk()
        func apply(_ jane: UserDefinition.HardwareDevice?, _ john: UserDefinition.HardwareDevice?) async throws {
            var definition = Self.definition(jane: jane, john: john)
            // The new owner comes first in the file.
            definition.users.swapAt(0, definition.users.count - 1)
            _ = try await desk.engine.apply(definition, context: desk.context)
        }
        try await apply(Self.device(counter: 20), nil)
        let store = desk.organization.store
        let record = try await store.read { try $0.allRecords(.enrollment).first { try Enrollment($0).hotp != nil } }
        var device = try Enrollment(try #require(record))
        device.hotp?.seed = nil
        #expect(try await store.commit([.put(device.record())]) == .committed)
        if isUsed { #expect(try await Self.use(20, desk) == nil) }
        if isUsed {
            // The factor is identified by its name alone.
            let john = try #require(try await desk.engine.user(login: "john.roe@example.com")?.id)
            _ = try #require(
                try await desk.engine.assignHardwareDevice(secret: Self.secret, credentialID: "new", userID: john, context: desk.context))
        } else {
            try await apply(nil, Self.device())
        }
        #expect(try await Self.owners(desk) == ["john.roe@example.com": isUsed ? 21 : 20])
    }
}
