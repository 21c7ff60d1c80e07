import Foundation
import JOSE
import Testing

@testable import IdentityCore
@testable import Store

@Suite("Administration of accounts")
struct AccountAdministrationTests {
    private static func context(at seconds: TimeInterval = 10) -> RequestContext {
        var context = SignInFixture.context(at: seconds)
        context.administrator = "ops"
        return context
    }

    private static func refusal(_ body: () async throws -> Void) async -> String? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? AdministrationRefusal)?.text
        }
    }

    @Test("A new user must change the temporary password that the administrator set, and the password grant rejects that password")
    func add() async throws {
        let org = try await SignInFixture()
        let password = try await org.engine.temporaryPassword()
        let user = try await org.engine.addUser(
            NewAccount(login: "Bob@example.com", profile: ["email": "bob@example.com"], groups: ["Staff"], password: password),
            context: Self.context())
        #expect(user.status == .active && user.mustChangePassword && user.groups == ["Staff"])
        #expect(try await org.signIn("bob@example.com", password).refusal?.code == .invalidGrant)
        let event = try #require(try await org.log().last { $0.type == "user.lifecycle.create" })
        #expect(event.administrator == "ops" && event.userID == user.id && event.outcome == .success)
    }

    @Test("A user who is added without a password has the status staged and cannot sign in")
    func addWithoutPassword() async throws {
        let org = try await SignInFixture()
        let user = try await org.engine.addUser(NewAccount(login: "bob"), context: Self.context())
        #expect(user.status == .staged && user.passwordHash == nil)
        #expect(try await org.signIn("bob", "").refusal != nil)
    }

    @Test("An administrator replaces the groups of a user, which is logged with the administrator's name and ends no session or grant")
    func setGroups() async throws {
        let org = try await SignInFixture { $0.groups += [Group(name: "Guests"), Group(name: "Auditors")] }
        let jane = try await org.stored().value
        #expect(jane.groups.isEmpty)
        _ = try await org.store.commit([.put(try await org.engine.session(ofUser: jane.id, at: 2, secret: "secret").record())])
        let change = try await org.engine.setGroups(userID: jane.id, to: ["Staff", "Guests"], context: Self.context())
        var expected = jane
        expected.groups = ["Staff", "Guests"]
        #expect(change == .changed(expected), "Nothing else changes, so that grants and sessions stay valid.")
        let found = try #require(try await org.engine.overview(of: jane.id, now: Self.context().now))
        #expect(found.sessions.count == 1)
        let event = try #require(try await org.log().last)
        #expect(event.type == "user.account.update_groups" && event.reason == "groups: Staff, Guests")
        #expect(event.administrator == "ops" && event.userID == jane.id)
        // The groups decide who may use an application.
        #expect(try await org.signIn(to: "staff", at: 20).refusal == nil)
        _ = try await org.engine.setGroups(userID: jane.id, to: [], context: Self.context(at: 30))
        #expect(try await org.signIn(to: "staff", at: 40).refusal != nil)
        #expect(try await org.log().contains { $0.type == "user.account.update_groups" && $0.reason == "no groups" })
    }

    @Test("Groups that the organization does not have are refused with the names of those that it has, and the same groups write nothing")
    func setGroupsRefusals() async throws {
        let org = try await SignInFixture { $0.groups.append(Group(name: "Guests")) }
        let jane = try await org.stored().value
        let lines = try await org.log().count
        let text = try #require(
            await Self.refusal { _ = try await org.engine.setGroups(userID: jane.id, to: ["Staff", "Staf"], context: Self.context()) })
        #expect(text.contains("no group “Staf”") && text.contains("Guests, Staff"), "\(text)")
        #expect(try await org.engine.setGroups(userID: jane.id, to: [], context: Self.context()) == .changed(jane))
        #expect(try await org.engine.setGroups(userID: "00uUnknown", to: ["Staff"], context: Self.context()) == .unknownUser)
        #expect(try await org.stored().value == jane)
        #expect(try await org.log().count == lines)
    }

    @Test("Groups that an administrator set stay when the org file is applied again, until the file changes the user's groups")
    func setGroupsAndApply() async throws {
        func change(_ definition: inout OrganizationDefinition, _ groups: [String]) {
            definition.groups += [Group(name: "Guests"), Group(name: "Auditors")]
            definition.users[0].groups = groups
        }
        let org = try await SignInFixture { change(&$0, ["Staff"]) }
        let jane = try await org.stored().value.id
        _ = try await org.engine.setGroups(userID: jane, to: ["Auditors"], context: Self.context())
        func apply(_ groups: [String], at seconds: TimeInterval) async throws -> [String] {
            var definition = SignInFixture.definition
            change(&definition, groups)
            definition.name = "Renamed at \(seconds)"
            _ = try await org.engine.apply(definition, context: SignInFixture.context(at: seconds))
            return try await org.stored().value.groups
        }
        #expect(try await apply(["Staff"], at: 20) == ["Auditors"])
        #expect(try await apply(["Staff", "Guests"], at: 30) == ["Staff", "Guests"])
    }

    @Test("No user is added if the login is invalid or exists in any letter case, the group is unknown, or the password is too weak")
    func addRefusals() async throws {
        let org = try await SignInFixture()
        let before = try await org.engine.users().users.count
        for (account, text) in [
            (NewAccount(login: SignInFixture.jane.uppercased(), password: "Correct-Horse-8"), "exists already"),
            (NewAccount(login: "bob", groups: ["Unknown"], password: "Correct-Horse-8"), "no group “Unknown”"),
            (NewAccount(login: "bob smith", password: "Correct-Horse-8"), "no white space"),
            (NewAccount(login: "", password: "Correct-Horse-8"), "1 to 200 bytes"),
            (NewAccount(login: "bob", password: "short"), "at least 8 characters"),
        ] {
            let refusal = await Self.refusal { _ = try await org.engine.addUser(account, context: Self.context()) }
            #expect(refusal?.contains(text) == true, "\(refusal ?? "accepted")")
        }
        #expect(try await org.engine.users().users.count == before)
    }

    @Test("If several requests add the same login concurrently, exactly one succeeds")
    func addRace() async throws {
        let org = try await SignInFixture()
        let added = try await withThrowingTaskGroup(of: Bool.self) { [engine = org.engine] group in
            for _ in 0..<5 {
                group.addTask {
                    do {
                        _ = try await engine.addUser(NewAccount(login: "bob", password: "Correct-Horse-8"), context: Self.context())
                        return true
                    } catch is AdministrationRefusal {
                        return false
                    }
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(added == 1)
    }

    @Test("Generated temporary passwords satisfy a policy with a minimum length of 40 characters, and no two are equal")
    func temporaryPasswords() async throws {
        let org = try await SignInFixture {
            $0.passwordPolicy.minimumLength = 40
            $0.users = []
        }
        let policy = try await org.engine.snapshot().passwordPolicy
        var seen: Set<String> = []
        for _ in 0..<50 {
            let password = try await org.engine.temporaryPassword()
            #expect(policy.problem(withNewPassword: password, login: SignInFixture.jane) == nil)
            seen.insert(password)
        }
        #expect(seen.count == 50)
    }

    @Test("A factor reset removes every factor and remembered device, ends the sessions, and is logged with the administrator's name")
    func reset() async throws {
        let organization = try await DeviceFixture()
        let engine = organization.engine
        let jane = try await organization.userID()
        let phone = try await organization.enrolledPhone()
        let secret = Array("12345678901234567890".utf8)
        _ = try await engine.assignHardwareDevice(
            secret: secret, credentialID: "4711", counter: 7, userID: jane, context: DeviceFixture.context(1))
        _ = try await engine.grantAuthenticatorApp(userID: jane, context: DeviceFixture.context(1))
        let session = try await engine.session(ofUser: jane, at: 2, secret: "secret")
        let remembered = RememberedDevice(
            id: "rem", userID: jane, device: [1], account: Grant.AccountState(try #require(try await engine.user(id: jane))),
            createdAt: DeviceFixture.context(2).now, provedAt: DeviceFixture.context(2).now)
        _ = try await engine.store.commit([.put(try session.record()), .put(try remembered.record())])

        var context = DeviceFixture.context(10)
        context.administrator = "ops"
        let removed = try await engine.resetFactors(ofUser: jane, context: context)
        #expect(Set(removed) == [.push, .hotp, .totp])
        let after = try #require(try await engine.overview(of: jane, now: context.now))
        #expect(after.factors.isEmpty && after.sessions.isEmpty && after.rememberedDevices == 0)
        // The enrollment is kept as deleted, and the device counts as unused.
        #expect(try await organization.stored(phone).status == .deleted)
        #expect(try await organization.storedDevice(phone).unusedSince == context.now)
        // The old codes of the hardware device stay invalid after it is assigned again.
        _ = try await engine.assignHardwareDevice(
            secret: secret, credentialID: "4711", counter: 0, userID: jane, context: DeviceFixture.context(20))
        let again = try await engine.store.read { try $0.enrollments(of: jane) }
        #expect(again.first?.hotp?.counter == 7)
        let events = try await engine.systemLog(SystemLogQuery(since: .distantPast, typePrefix: "user.mfa.factor.deactivate")).events
        #expect(Set(events.compactMap(\.reason)) == ["push", "hotp", "totp"])
        #expect(events.allSatisfy { $0.administrator == "ops" && $0.userID == jane })
    }

    /// Stores a remembered device of a user.
    private static func remember(_ id: String, ofUser jane: String, in org: SignInFixture) async throws {
        let device = RememberedDevice(
            id: id, userID: jane, device: [1], account: Grant.AccountState(try await org.stored().value), createdAt: context().now,
            provedAt: context().now)
        #expect(try await org.store.commit([.put(try device.record())]) == .committed)
    }

    @Test("A full factor reset of a user without factors ends the sessions and forgets the remembered devices")
    func resetNothing() async throws {
        let org = try await SignInFixture()
        let jane = try await org.stored().value.id
        _ = try await org.store.commit([.put(try await org.engine.session(ofUser: jane, at: 2, secret: "secret").record())])
        try await Self.remember("rem", ofUser: jane, in: org)
        #expect(try await org.engine.resetFactors(ofUser: jane, context: Self.context()) == [])
        let after = try #require(try await org.engine.overview(of: jane, now: Self.context().now))
        #expect(after.sessions.isEmpty && after.rememberedDevices == 0)
        #expect(try await org.log().last { $0.type == "user.session.end_all" }?.reason == "factor reset")
    }

    @Test("A reset of one factor kind keeps the user's other factors, and changes nothing if the user has no factor of this kind")
    func resetOne() async throws {
        let org = try await SignInFixture()
        try await org.enroll(.totp)
        try await org.enroll(.sms)
        let jane = try await org.stored().value.id
        // A thief's remembered browser must not replace one of the remaining factors.
        try await Self.remember("rem", ofUser: jane, in: org)
        #expect(try await org.engine.resetFactors(ofUser: jane, only: .sms, context: Self.context()) == [.sms])
        #expect(try await org.store.read { try $0.enrollments(of: jane) }.map(\.factor) == [.totp])
        #expect(try await org.engine.overview(of: jane, now: Self.context().now)?.rememberedDevices == 0)
        let version = try await org.stored().version
        #expect(try await org.engine.resetFactors(ofUser: jane, only: .sms, context: Self.context()) == [])
        #expect(try await org.engine.resetFactors(ofUser: "00uNobody", context: Self.context()) == [])
        #expect(try await org.stored().version == version)
    }

    @Test(
        "Deleting a user without a device removes the user's records except log events, and a new account with the same login gets a different id"
    )
    func delete() async throws {
        let org = try await SignInFixture()
        let user = try await org.engine.addUser(NewAccount(login: "bob", password: "Correct-Horse-8"), context: Self.context())
        try await org.store.enroll(.totp, of: user.id, at: SignInFixture.start)
        let session = try await org.engine.session(ofUser: user.id, at: 11, secret: "secret")
        let grant = Grant(
            id: "gra1", clientID: "one", server: nil, userID: user.id, scopes: ["openid"], grantType: "password", rule: "test",
            createdAt: SignInFixture.start, account: Grant.AccountState(user), authentication: nil, accessTokenLifetime: 3_600,
            expiresAt: SignInFixture.start.addingTimeInterval(3_600))
        _ = try await org.store.commit([.put(try session.record()), .put(grant.record)])
        #expect(try await org.engine.deleteUser(id: user.id, context: Self.context()))
        for kind in RecordKind.allCases where kind != .logEvent {
            let left = try await org.store.read { try $0.allRecords(kind) }.filter {
                String(decoding: $0.payload, as: UTF8.self).contains(user.id)
            }
            #expect(left.isEmpty, "\(kind)")
        }
        #expect(try await org.engine.overview(of: "bob", now: Self.context().now) == nil)
        #expect(try await org.log().last { $0.type == "user.lifecycle.delete" }?.administrator == "ops")
        let other = try await org.engine.addUser(NewAccount(login: "bob", password: "Correct-Horse-8"), context: Self.context())
        #expect(other.id != user.id)
        #expect(try await org.engine.deleteUser(id: user.id, context: Self.context()) == false)
    }

    @Test("Deleting a user whom the org file names is rejected, because the next start would create the account again")
    func deleteNamed() async throws {
        let org = try await SignInFixture()
        let jane = try await org.stored().value
        let refusal = await Self.refusal { _ = try await org.engine.deleteUser(id: jane.id, context: Self.context()) }
        #expect(refusal?.contains("Remove the user from the org file") == true)
        #expect(try await org.stored().value.status == .active)
    }

    @Test("The user list is paged, and can be filtered by status and by a part of the mail address or the name")
    func list() async throws {
        let org = try await SignInFixture()
        for index in 0..<30 {
            _ = try await org.engine.addUser(
                NewAccount(login: "user\(index)", profile: ["email": "mail\(index)@example.org", "given_name": "Grace"]),
                context: Self.context())
        }
        var found: [String] = []
        var position: String?
        repeat {
            let page = try await org.engine.users(matching: "GRACE", status: .staged, after: position, limit: 7)
            #expect(page.users.count <= 7)
            found += page.users.map(\.login)
            position = page.next
        } while position != nil
        #expect(Set(found) == Set((0..<30).map { "user\($0)" }) && found.count == 30)
        #expect(try await org.engine.users(matching: "mail29@").users.map(\.login) == ["user29"])
        #expect(try await org.engine.users(matching: "SER29").users.map(\.login) == ["user29"])
        #expect(try await org.engine.users(matching: "user30").users.isEmpty)
        #expect(try await org.engine.users(matching: "grace", status: .active).users.isEmpty)
    }

    @Test("The overview of a user shows the factors, the lock and the open sessions, and omits expired sessions and grants")
    func overview() async throws {
        let org = try await SignInFixture()
        try await org.enroll(.totp)
        try await org.lock()
        let jane = try await org.stored().value.id
        let session = try await org.engine.session(ofUser: jane, at: 1, secret: "secret")
        let user = try await org.stored().value
        func grant(_ id: String, _ change: (inout Grant) -> Void = { _ in }) -> Change {
            var grant = Grant(
                id: id, clientID: "one", server: nil, userID: jane, scopes: ["openid"], grantType: "password", rule: "test",
                createdAt: SignInFixture.start, account: Grant.AccountState(user), authentication: nil, accessTokenLifetime: 3_600,
                expiresAt: SignInFixture.start.addingTimeInterval(3_600))
            change(&grant)
            return .put(grant.record)
        }
        let grants = [grant("gra1"), grant("gra2"), grant("gra3") { $0.revokedAt = SignInFixture.start }]
        #expect(try await org.store.commit([.put(try session.record())] + grants) == .committed)
        for name in [jane, SignInFixture.jane.uppercased()] {
            let found = try #require(try await org.engine.overview(of: name, now: Self.context().now))
            #expect(found.factors.map(\.kind) == [.totp] && found.isLocked && found.isInOrgFile)
            #expect(found.sessions.map(\.id) == [session.id] && found.grants == 2)
        }
        let late = SignInFixture.start.addingTimeInterval(400 * 86_400)
        let found = try #require(try await org.engine.overview(of: jane, now: late))
        #expect(found.sessions.isEmpty && found.grants == 0)
        // Signing the user out everywhere closes the grants.
        _ = try await org.engine.markGrantsEnded(ofUser: jane, context: Self.context())
        #expect(try await org.engine.overview(of: jane, now: Self.context().now)?.grants == 0)
    }

    @Test("Erasing a user's log events removes user, address and reason, and keeps the type, outcome and time of each event")
    func erase() async throws {
        let org = try await SignInFixture()
        _ = try await org.signIn()
        _ = try await org.signIn(SignInFixture.jane, "wrong-password")
        let jane = try await org.stored().value.id
        let before = try await org.log()
        let count = before.count { $0.userID == jane }
        #expect(count > 0)
        #expect(try await org.engine.eraseSystemLog(ofUser: jane, context: Self.context(at: 20)) == count)
        let after = try await org.log()
        #expect(!after.contains { $0.userID == jane })
        for (old, new) in zip(before, after) {
            #expect((old.id, old.type, old.outcome, old.time) == (new.id, new.type, new.outcome, new.time))
            if old.userID == jane { #expect(new.address == nil && new.reason == nil) } else { #expect(old == new) }
        }
        let events = after.suffix(2)
        #expect(events.map(\.reason) == ["begun", "\(count) line(s)"])
        #expect(events.allSatisfy { $0.type == "system.log.erase" && $0.administrator == "ops" && $0.userID == nil })
    }
}

extension Engine {
    /// Returns a new session of a user without storing it.
    fileprivate func session(ofUser id: String, at seconds: TimeInterval, secret: String) async throws -> Session {
        let user = try #require(try await user(id: id))
        return Session(
            id: "ses-\(id)", of: user, proofs: [], policy: SessionPolicy(), secret: secret,
            now: SignInFixture.start.addingTimeInterval(seconds))
    }
}
