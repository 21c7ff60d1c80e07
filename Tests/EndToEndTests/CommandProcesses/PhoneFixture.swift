import CountersignSandbox
import Foundation
import JOSE
import TestSupport
import Testing

/// A sandbox with a terminal phone, for tests that need both.
struct PhoneFixture: Sendable {
    static let jane = "jane.doe@example.com"
    static let password = "Correct-Horse-7"

    let sandbox: Sandbox
    private let folder: TemporaryFolder

    init(_ sandbox: Sandbox) throws {
        self.sandbox = sandbox
        folder = try TemporaryFolder()
    }

    /// Environment variables with the data folders of the processes.
    var environment: [String: String] {
        ["COUNTERSIGN_PHONE": folder.path + "phone", "COUNTERSIGN_VAULT": folder.path + "vault"]
    }

    private static let signIn = ["sign-in", "direct", jane, "--client-id", "directauth-app"]

    func run(_ arguments: String..., input: String = "") async throws -> ChildProcess.Ended {
        try await Command.run(arguments, input: input, environment: environment)
    }

    func start(_ arguments: String..., connection: ChildProcess.Connection = .input("")) throws -> ChildProcess {
        try Command.start(arguments, connection, environment: environment)
    }

    /// Enrolls the phone. With a PIN, the enrollment includes user verification.
    @discardableResult
    func enroll(pin: String? = nil) async throws -> JSONValue {
        let arguments = ["phone", "enroll", Self.jane, "--issuer", sandbox.issuer.absoluteString, "--json"]
        let ended = try await Command.run(
            arguments + (pin == nil ? [] : ["--user-verification"]), input: Self.password + "\n" + (pin.map { $0 + "\n" } ?? ""),
            environment: environment)
        try #require(ended.status == 0, "\(ended.output)\(ended.errors)")
        return try JSONValue(parsing: ended.output.trimmingCharacters(in: .newlines))
    }

    /// Starts a sign-in that waits for the phone.
    func startSignIn(connection: ChildProcess.Connection = .input(password + "\n"), _ more: String...) throws -> ChildProcess {
        try Command.start(
            Self.signIn + ["--issuer", sandbox.issuer.absoluteString] + more, connection, environment: environment)
    }

    /// Waits until a request is pending on the phone, and returns this request.
    func pendingRequest() async throws -> JSONValue {
        let ended = try await run("phone", "pending", "--wait", "60", "--json")
        try #require(ended.status == 0, "\(ended.output)\(ended.errors)")
        let list = try JSONValue(parsing: ended.output.trimmingCharacters(in: .newlines))
        return try #require(list["requests"]?.arrayValue?.first, "\(ended.output)")
    }

    /// Returns the ids of the stored credentials.
    func credentials() async throws -> [String] {
        let ended = try await run("credential", "list", "--json")
        let list = try JSONValue(parsing: ended.output.trimmingCharacters(in: .newlines))
        return try #require(list["credentials"]?.arrayValue).compactMap { $0["id"]?.stringValue }
    }

    /// Runs a test with its own sandbox and phone.
    ///
    /// - Parameters:
    ///   - numbers: Whether sign-ins show a number to pick.
    ///   - verifiesUser: Whether the organization requires user verification.
    ///   - portal: The name of the application, as a YAML value.
    ///   - body: The test.
    static func with(
        numbers: Bool = false, verifiesUser: Bool = false, portal: String = "Portal", _ body: (PhoneFixture) async throws -> Void
    ) async throws {
        let organization = organization(numbers: numbers, verifiesUser: verifiesUser, portal: portal)
        try await withSandbox(.init(organization: organization)) { sandbox in
            try await body(PhoneFixture(sandbox))
        }
    }

    private static func organization(numbers: Bool, verifiesUser: Bool, portal: String) -> String {
        """
        \(OrganizationText.head(name: "Phones", group: "Everyone"))
              - name: Default
                rules: [{name: All, grant_types: [password, refresh_token, mfa-oob]}]
        applications:
          - {id: directauth-app, name: \(portal), type: native, grant_types: [password, refresh_token, mfa-oob], assignment: everyone, sign_on_policy: two-factors}
          - id: phone-app
            name: Phone App
            type: native
            grant_types: [password, refresh_token, mfa-oob, jwt-bearer]
            granted_api_scopes: [okta.myAccount.appAuthenticator.manage, okta.myAccount.appAuthenticator.maintenance.manage]
            assignment: everyone
            sign_on_policy: one-factor
        authenticators:
          - {id: autphone, type: custom_app, name: Phone, client: phone-app, number_challenge: \(numbers ? "always" : "never"), user_verification: \(verifiesUser ? "required" : "preferred")}
        users:
          - {login: \(jane), password: \(password), groups: [Everyone]}
        """
    }
}
