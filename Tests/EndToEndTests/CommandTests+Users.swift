import Foundation
import IdentityCore
import JOSE
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Tests the administration of a running server's accounts, from another process.
extension CommandTests {
    private struct Desk {
        let folder: TemporaryFolder
        let config: String
        let port: Int
        let server: ServerProcess

        init(groups: String = "") async throws {
            folder = try TemporaryFolder()
            port = try SitePort().number
            config = try folder.write(
                OrganizationText.passwordOnly(
                    name: "Company", origin: "http://127.0.0.1:\(port)",
                    settings: """
                        authn_api:
                          sign_on_policy: two-factors
                          factors: {totp: required}
                        \(groups)
                        """, application: "type: native\ngrant_types: [password, refresh_token]"
                ).replacing(
                    "sign_on_policies:", with: "sign_on_policies:\n  - name: two-factors\n    rules: [{name: All, require: two_factors}]"
                ).replacing("password: Correct-Horse-7,", with: "password: Correct-Horse-7, totp_secret: \(Self.secret),"), to: "org.yaml")
            server = try await ServerProcess(config: config, data: folder.path + "data", port: port)
        }

        static let secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"

        func run(_ arguments: String..., input: String = "") async throws -> Command.Ended {
            try await Command.run(arguments + ["--config", config, "--data", folder.path + "data", "--as", "ops"], input: input)
        }

        func post(_ path: String, _ body: JSONValue) async throws -> JSONValue {
            var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(port)/api/v1/authn\(path)")))
            request.httpMethod = "POST"
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
            request.httpBody = Data(body.serialized())
            return try JSONValue(parsing: try await PlainHTTP.data(for: request).0)
        }

        func signIn(_ password: String = "Correct-Horse-7", as login: String = "jane@example.com") async throws -> JSONValue {
            try await post("", ["username": .string(login), "password": .string(password)])
        }

        func stop() async {
            server.kill()
            await server.waitUntilEnded()
        }
    }

    @Test(
        "After countersign users reset-factors, the user must enroll a new factor at the next sign-in, and the log shows the administrator",
        .timeLimit(.minutes(5)))
    func lostPhone() async throws {
        let desk = try await Desk()
        #expect(try await desk.signIn()["status"] == "MFA_REQUIRED")
        let shown = try await desk.run("users", "show", "jane@example.com")
        #expect(shown.status == 0 && shown.output.contains("factor    totp, active"), "\(shown.output)\(shown.errors)")

        let reset = try await desk.run("users", "reset-factors", "jane@example.com")
        #expect(reset.status == 0 && reset.output == "Removed from jane@example.com: totp.\n", "\(reset.output)\(reset.errors)")
        let again = try await desk.run("users", "reset-factors", "jane@example.com")
        #expect(again.status == 0 && again.output.contains("has no second factor"))

        let enroll = try await desk.signIn()
        #expect(enroll["status"] == "MFA_ENROLL")
        let token = try #require(enroll["stateToken"])
        let begun = try await desk.post("/factors", ["stateToken": token, "factorType": "token:software:totp", "provider": "GOOGLE"])
        #expect(begun["status"] == "MFA_ENROLL_ACTIVATE", "\(begun)")
        let factor = try #require(begun["_embedded"]?["factor"])
        let secret = try #require(factor["_embedded"]?["activation"]?["sharedSecret"]?.stringValue.flatMap(Base32.decode))
        let code = TimeBasedCode.code(secret: secret, step: Int64(Date().timeIntervalSince1970) / 30)
        let ended = try await desk.post(
            "/factors/\(factor["id"]?.stringValue ?? "")/lifecycle/activate", ["stateToken": token, "passCode": .string(code)])
        #expect(ended["status"] == "SUCCESS", "\(ended)")
        #expect(try await desk.signIn()["status"] == "MFA_REQUIRED")

        let log = try await desk.run("log", "--user", "jane@example.com", "--type", "user.mfa.factor", "--json")
        let lines = try log.output.split(separator: "\n").map { try JSONValue(parsing: Data($0.utf8)) }
        #expect(
            lines.map { $0["type"] } == [
                "user.mfa.factor.activate", "user.mfa.factor.deactivate", "user.mfa.factor.begin", "user.mfa.factor.activate",
            ], "\(log.output)")
        #expect(lines.map { $0["administrator"]?.stringValue } == [nil, "ops", nil, nil])
        await desk.stop()
    }

    @Test(
        "countersign users can add, list, suspend, activate and delete users and reset passwords while the server runs",
        .timeLimit(.minutes(5)))
    func accounts() async throws {
        let desk = try await Desk()
        let added = try await desk.run("users", "add", "bob@example.com", "--email", "bob@example.com", "--given-name", "Bob", "--json")
        let password = try #require(try JSONValue(parsing: Data(added.output.utf8))["temporary_password"]?.stringValue, "\(added.errors)")
        #expect(try await desk.signIn(password, as: "bob@example.com")["status"] == "PASSWORD_EXPIRED")
        let twice = try await desk.run("users", "add", "bob@example.com")
        #expect(twice.status == 1 && twice.errors.contains("exists already"), "\(twice.errors)")

        let listed = try await desk.run("users", "list", "bob")
        #expect(listed.output.contains("bob@example.com  active") && !listed.output.contains("jane"), "\(listed.output)")
        #expect(try await desk.run("users", "suspend", "bob@example.com").output == "bob@example.com is suspended.\n")
        #expect(try await desk.signIn(password, as: "bob@example.com")["errorCode"] == "E0000004")
        #expect(try await desk.run("users", "activate", "bob@example.com").output == "bob@example.com is active.\n")

        let weak = try await desk.run("users", "reset-password", "bob@example.com", "--ask-password", input: "short\n")
        #expect(weak.status == 1 && weak.errors.contains("at least 8 characters"), "\(weak.errors)")
        let reset = try await desk.run("users", "reset-password", "bob@example.com", "--ask-password", input: "Battery-Staple-9\n")
        #expect(reset.status == 0 && !reset.output.contains("Battery-Staple-9"), "\(reset.errors)")
        #expect(try await desk.signIn(password, as: "bob@example.com")["errorCode"] == "E0000004")
        #expect(try await desk.signIn("Battery-Staple-9", as: "bob@example.com")["status"] == "PASSWORD_EXPIRED")

        let unconfirmed = try await desk.run("users", "delete", "bob@example.com")
        #expect(unconfirmed.status == 1 && unconfirmed.errors.contains("--yes"))
        #expect(try await desk.run("users", "delete", "bob@example.com", "--yes").output == "Deleted bob@example.com.\n")
        #expect(try await desk.signIn("Battery-Staple-9", as: "bob@example.com")["errorCode"] == "E0000004")
        let unknown = try await desk.run("users", "show", "bob@example.com")
        #expect(unknown.status == 1 && unknown.errors.contains("countersign users list"), "\(unknown.errors)")
        let kept = try await desk.run("users", "delete", "jane@example.com", "--yes")
        #expect(kept.status == 1 && kept.errors.contains("org file"), "\(kept.errors)")
        await desk.stop()
    }

    @Test(
        "users set-groups replaces a user's groups, refuses unknown groups, and is logged with the operator's name", .timeLimit(.minutes(5))
    )
    func groups() async throws {
        let desk = try await Desk(groups: "groups: [{name: Staff}, {name: Guests}]")
        let both = try await desk.run("users", "set-groups", "jane@example.com", "--group", "Staff", "--group", "Guests")
        #expect(both.output == "jane@example.com is in the groups: Staff, Guests.\n", "\(both)")
        #expect(both.errors.contains("The org file also names this user."), "\(both)")
        #expect(try await desk.run("users", "show", "jane@example.com").output.contains("groups    Staff, Guests"))
        let unknown = try await desk.run("users", "set-groups", "jane@example.com", "--group", "Staf")
        #expect(unknown.status == 1 && unknown.errors.contains("Its groups are: Guests, Staff."), "\(unknown)")
        let nothing = try await desk.run("users", "set-groups", "jane@example.com")
        #expect(nothing.status == 64 && nothing.errors.contains("--none"), "\(nothing)")
        let none = try await desk.run("users", "set-groups", "jane@example.com", "--none", "--json")
        #expect(try JSONValue(parsing: Data(none.output.utf8))["groups"] == [], "\(none)")
        let log = try await desk.run("log", "--type", "user.account.update_groups")
        let lines = log.output.split(separator: "\n")
        #expect(lines.count == 2 && lines.allSatisfy { $0.contains("by=ops") && $0.contains("user=jane@example.com") }, "\(log)")
        await desk.stop()
    }

    @Test(
        "countersign users unlock unlocks a user, and countersign log lists failed sign-ins until countersign log erase erases the user's data",
        .timeLimit(.minutes(5)))
    func unlocking() async throws {
        let desk = try await Desk()
        for _ in 0..<10 { _ = try await desk.signIn("wrong") }
        #expect(try await desk.signIn()["errorCode"] == "E0000004")
        #expect(try await desk.run("users", "unlock", "jane@example.com").output == "Unlocked jane@example.com.\n")
        #expect(try await desk.signIn()["status"] == "MFA_REQUIRED")
        let log = try await desk.run("log", "--user", "jane@example.com", "--outcome", "failure", "--since", "5m")
        let lines = log.output.split(separator: "\n")
        #expect(lines.allSatisfy { $0.contains("user=jane@example.com") && $0.contains("from=127.0.0.1") }, "\(log.output)")
        #expect(lines.count { $0.contains("wrong password") } == 10, "\(log.output)")
        #expect(lines.count { $0.contains("account is locked") } == 1, "\(log.output)")
        let erased = try await desk.run("log", "erase", "jane@example.com")
        #expect(erased.status == 0 && erased.output.contains("Erased the personal data"), "\(erased.errors)")
        let after = try await desk.run("log", "--user", "jane@example.com", "--since", "5m")
        #expect(after.output.isEmpty && after.errors.contains("No line matches"), "\(after.output)")
        #expect(try await desk.run("log", "--since", "soon").status == 64)
        await desk.stop()
    }

    @Test(
        "A backup of a running server can be restored into a new folder, and a server with that folder accepts the users' passwords",
        .timeLimit(.minutes(5)))
    func backup() async throws {
        let desk = try await Desk()
        #expect(try await desk.run("users", "add", "bob@example.com").status == 0)
        let (backup, other) = (desk.folder.path + "backup.sqlite", desk.folder.path + "other")
        func run(_ arguments: String...) async throws -> Command.Ended { try await Command.run(arguments + ["--config", desk.config]) }
        let data = desk.folder.path + "data"
        #expect(try await run("store", "backup", backup, "--data", data).output == "Wrote \(backup).\n")
        let mode = try FileManager.default.attributesOfItem(atPath: backup)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let twice = try await run("store", "backup", backup, "--data", data)
        #expect(twice.status == 1 && twice.errors.contains("exists already"), "\(twice.errors)")
        let nothing = try await run("store", "backup", backup + "2", "--data", desk.folder.path + "nothing")
        #expect(nothing.status == 1 && nothing.errors.contains("There is no database"), "\(nothing.errors)")
        #expect(!FileManager.default.fileExists(atPath: desk.folder.path + "nothing"))
        // The backup does not contain a later change.
        #expect(try await desk.run("users", "delete", "bob@example.com", "--yes").status == 0)
        let over = try await run("store", "restore", backup, "--data", data)
        #expect(over.status == 1 && over.errors.contains("exists already"), "\(over.errors)")
        #expect(try await run("store", "restore", backup, "--data", other).status == 0)
        await desk.stop()

        try FileManager.default.copyItem(atPath: data + "/master.key", toPath: other + "/master.key")
        let restored = try await ServerProcess(config: desk.config, data: other, port: desk.port)
        #expect(try await desk.signIn()["status"] == "MFA_REQUIRED")
        let users = try await run("users", "list", "--data", other)
        #expect(users.output.contains("bob@example.com") && users.output.contains("jane@example.com"), "\(users.output)\(users.errors)")
        restored.kill()
        await restored.waitUntilEnded()
    }

    @Test("An operator command with a wrong data folder or org file names the flag to use, and creates no database")
    func wrongFolder() async throws {
        let folder = try TemporaryFolder()
        let config = try folder.write(
            OrganizationText.passwordOnly(
                name: "Company", origin: "http://127.0.0.1:8080", application: "type: native\ngrant_types: [password]"),
            to: "org.yaml")
        for command in [["users", "list"], ["log"], ["keys", "rotate"]] {
            let ended = try await Command.run(command + ["--config", config, "--data", folder.path + "nothing"])
            #expect(ended.status == 1 && ended.errors.contains("--data, as for countersign serve"), "\(ended.errors)")
            let unnamed = try await Command.run(command + ["--config", folder.path + "other.yaml"])
            #expect(unnamed.status == 1 && unnamed.errors.contains("--config, as for countersign serve"), "\(unnamed.errors)")
        }
        #expect(!FileManager.default.fileExists(atPath: folder.path + "nothing"))
    }
}
