import AuthFoundation
import AuthorizationServer
import CountersignSandbox
import DeviceAuthenticator
import Foundation
import JOSE
import OktaDirectAuth
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("A virtual phone", .timeLimit(.minutes(10)))
struct PhoneTests {
    @Test("Concurrent calls for the same user create only one virtual phone")
    func once() async throws {
        try await withSandbox(.standing()) { sandbox in
            async let first = sandbox.phone(for: SandboxUser.jane.login)
            async let second = sandbox.phone(for: "JANE.DOE@example.com")
            let phones = try await [first, second]
            #expect(phones[0] === phones[1])
            let enrollment = try #require(phones[0].enrollments.first)
            #expect(phones[0].enrollments.count == 1 && enrollment.user.name == SandboxUser.jane.login)
            #expect(!enrollment.userVerificationEnabled && !enrollment.isCIBAEnabled)
            let other = try await sandbox.phone(for: SandboxUser.john.login)
            #expect(other.login == SandboxUser.john.login)
            #expect(sandbox.allPhones.map(\.login) == [SandboxUser.jane.login, SandboxUser.john.login])
        }
    }

    @Test("A virtual phone cannot be created for an unknown user, or if the organization has no push authenticator")
    func refused() async throws {
        try await withSandbox(.standing()) { sandbox in
            let stranger = await thrown { _ = try await sandbox.phone(for: "unknown@example.com") }
            #expect((stranger as? PhoneError)?.code == .unknownPerson)
            try await sandbox.add(SandboxUser(login: "silent@example.com", password: nil))
            let silent = await thrown { _ = try await sandbox.phone(for: "silent@example.com") }
            #expect((silent as? PhoneError)?.code == .unknownPerson)
            #expect(sandbox.allPhones.isEmpty)
        }
        let organization = OrgFile.sandboxDefault.replacing("number_challenge: never", with: "number_challenge: never\n    push: off")
        try await withSandbox(.standing(organization: organization)) { sandbox in
            let error = await thrown { _ = try await sandbox.phone(for: SandboxUser.jane.login) }
            #expect((error as? PhoneError)?.code == .noAuthenticator)
        }
    }

    @Test("A virtual phone can add and remove its user verification key, and automatically approves the sign-in for this change")
    func userVerification() async throws {
        try await withSandbox(.standing()) { sandbox in
            let phone = try await sandbox.phone(for: SandboxUser.jane.login)
            for isEnabled in [true, false] {
                try await phone.setUserVerification(isEnabled)
                #expect(phone.userVerificationEnabled == isEnabled)
                let signIn = PushSignIn(sandbox)
                let waiting = try await signIn.begin()
                try await phone.approveNext(within: .patience)
                let methods = try await signIn.tokens(waiting).methods
                #expect(methods.contains("pin") == isEnabled)
                sandbox.advance(by: 600)
            }
            #expect(phone.outcomes == [.approved, .approved], "What it confirms for itself is not shown.")
        }
    }

    @Test(
        "A virtual phone does not automatically approve a request of another application that has the name of the phone's application",
        .timeLimit(.minutes(2)))
    func ownRequest() async throws {
        let organization = OrgFile.sandboxDefault.replacing("name: Direct Authentication App", with: "name: Phone App")
        try await withSandbox(.standing(organization: organization)) { sandbox in
            let phone = try await sandbox.phone(for: SandboxUser.jane.login)
            let signIn = PushSignIn(sandbox)
            let waiting = try await signIn.begin()
            let request = try #require(try await phone.shows { !$0.isEmpty }.first)
            #expect(request.applicationName == "Phone App")
            try await phone.setUserVerification(true)
            #expect(phone.waiting == [request] && phone.history.isEmpty)
            try await phone.approve(request.id)
            _ = try await signIn.tokens(waiting)
        }
    }

    @Test("A virtual phone signs in for each change of its settings, and revokes the token afterwards")
    func revokedToken() async throws {
        try await withSandbox(.standing()) { sandbox in
            let phone = try await sandbox.phone(for: SandboxUser.jane.login)
            #expect(sandbox.count(.revoke) == 1)
            try await phone.setUserVerification(true)
            #expect(sandbox.count(.revoke) == 2)
            try await phone.remove()
            #expect(sandbox.count(.revoke) == 3)
            #expect(sandbox.requests.allSatisfy { $0.endpoint != .revoke || $0.status == 200 })
        }
    }

    @Test("A virtual phone uses one maintenance token for its polls until the token expires")
    func upkeepToken() async throws {
        try await withSandbox(.standing()) { sandbox in
            let phone = try await sandbox.phone(for: SandboxUser.jane.login)
            for _ in 0..<3 { try await phone.pending() }
            #expect(sandbox.count(.token, grant: GrantType.jwtBearer.rawValue) == 1)
            sandbox.advance(by: 86_400)
            for _ in 0..<3 { try await phone.pending() }
            #expect(sandbox.count(.token, grant: GrantType.jwtBearer.rawValue) == 2)
        }
    }

    @Test(
        "After its removal, a virtual phone exists neither in the sandbox nor at the server, and can be created again",
        arguments: [false, true])
    func remove(withNumbers: Bool) async throws {
        try await withSandbox(withNumbers ? .withNumbers : .standing()) { sandbox in
            let phone = try await sandbox.phone(for: SandboxUser.jane.login)
            try await phone.remove()
            #expect(sandbox.allPhones.isEmpty)
            await #expect(throws: PhoneError.self) { try await phone.setCIBA(true) }
            await #expect(throws: PhoneError.self) { try await phone.approveNext(within: .patience) }
            var ended = false
            for await _ in phone.requests {}
            ended = true
            #expect(ended)
            let signIn = PushSignIn(sandbox)
            let error = await thrown { _ = try await signIn.begin() }
            #expect(error != nil, "A sign-in without the second factor must fail.")
            let next = try await sandbox.phone(for: SandboxUser.jane.login)
            #expect(next !== phone && next.enrollments.count == 1)
        }
    }

    @Test("A virtual phone is stored in the sandbox's folder, and cannot be used if the sandbox starts with another origin")
    func folders() async throws {
        let folder = try TemporaryFolder()
        let phones = folder.url.appending(path: "phones").path()
        try await withSandbox(.standing(folder: folder.url)) { _ = try await $0.phone(for: SandboxUser.jane.login) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: phones).count == 1)
        try await withSandbox(.standing(folder: folder.url)) { sandbox in
            #expect(sandbox.allPhones.map(\.login) == [SandboxUser.jane.login])
        }
        var elsewhere = Sandbox.Configuration.standing(folder: folder.url)
        elsewhere.host = "localhost"
        try await withSandbox(elsewhere) { sandbox in
            let error = await thrown { _ = try await sandbox.phone(for: SandboxUser.jane.login) }
            #expect((error as? PhoneError)?.code == .otherOrigin)
        }
    }

    @Test("A virtual phone that connects through a TCP port can approve a sign-in")
    func overPort() async throws {
        try await withSandbox { sandbox in
            let phone = try await sandbox.phone(for: SandboxUser.jane.login, session: OAuth2Client.defaultSession ?? URLSession.shared)
            phone.autoApprove = true
            let flow = DirectAuthenticationFlow(client: sandbox.client(.directAuth, by: .port))
            guard case .mfaRequired = try await flow.start(SandboxUser.jane.login, with: .password("Correct-Horse-7")),
                case .success = try await flow.resume(with: .oob(channel: .push))
            else { throw CancellationError() }
        }
    }

    // MARK: - CIBA

    private static let withCIBA = OrgFile.sandboxDefault
        .replacing("- mfa-webauthn\n", with: "- mfa-webauthn\n              - ciba\n")
        .replacing(
            "  - id: service-app",
            with:
                "  - {id: bank-app, name: Bank, type: service, authentication: client_secret_basic, secret: bank-app-secret-1, grant_types: [ciba], assignment: everyone, sign_on_policy: one-factor}\n  - id: service-app"
        )

    private func post(_ sandbox: Sandbox, _ path: String, _ form: String) async throws -> JSONValue {
        var request = URLRequest(url: sandbox.issuer.appending(path: path))
        request.httpMethod = "POST"
        request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
        request.setValue("Basic " + Data("bank-app:bank-app-secret-1".utf8).base64EncodedString(), forHTTPHeaderField: "Authorization")
        request.httpBody = Data(form.utf8)
        return try JSONValue(parsing: try await sandbox.transport.data(for: request).0)
    }

    @Test("A virtual phone that enables CIBA shows a back-channel request with the request's message, and can approve the request")
    func ciba() async throws {
        try await withSandbox(.standing(organization: Self.withCIBA)) { sandbox in
            let phone = try await sandbox.phone(for: SandboxUser.jane.login)
            let form = "scope=openid&login_hint=jane.doe%40example.com&binding_message=Pay%20%3Cb%3E10%25%3C%2Fb%3E"
            let refused = try await post(sandbox, "v1/bc/authorize", form)
            #expect(refused["error"]?.stringValue == "unknown_user_id")

            try await phone.setCIBA(true)
            #expect(phone.isCIBAEnabled)
            let asked = try await post(sandbox, "v1/bc/authorize", form)
            let id = try #require(asked["auth_req_id"]?.stringValue)
            let request = try await phone.approveNext(within: .patience)
            #expect(request.isCIBA && request.bindingMessage == "Pay <b>10%</b>" && request.applicationName == "Bank")
            let tokens = try await post(
                sandbox, "v1/token", "grant_type=urn%3Aopenid%3Aparams%3Agrant-type%3Aciba&auth_req_id=\(id)")
            #expect(tokens["access_token"] != nil && tokens["id_token"] != nil)

            let silent = try await post(sandbox, "v1/bc/authorize", "scope=openid&login_hint=jane.doe%40example.com")
            #expect(silent["auth_req_id"] != nil)
            let second = try await phone.denyNext(within: .patience)
            #expect(second.isCIBA && second.bindingMessage == nil, "It is no sign-in, though it says nothing.")

            try await phone.setCIBA(false)
            #expect(!phone.isCIBAEnabled)
            let again = try await post(sandbox, "v1/bc/authorize", form)
            #expect(again["error"]?.stringValue == "unknown_user_id")
        }
    }
}
