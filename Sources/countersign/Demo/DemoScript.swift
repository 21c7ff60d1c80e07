import AuthFoundation
import CountersignSandbox
import Foundation
import OktaDirectAuth

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The steps of the demo: the user signs in with a password and a phone, uses an API, refreshes the tokens, and signs out.
struct DemoScript {
    let sandbox: Sandbox
    let reporter: StepReporter
    /// Whether the phone approves automatically instead of waiting for the user.
    let approvesByItself: Bool
    private let vault: URL
    private static let jane = SandboxUser.jane
    private let session = URLSession(configuration: .ephemeral)

    init(sandbox: Sandbox, reporter: StepReporter, approvesByItself: Bool) {
        self.sandbox = sandbox
        self.reporter = reporter
        self.approvesByItself = approvesByItself
        vault = URL.temporaryDirectory.appending(
            path: "countersign-demo-\(ProcessInfo.processInfo.processIdentifier)", directoryHint: .isDirectory)
    }

    func run() async throws {
        defer { try? FileManager.default.removeItem(at: vault) }
        let storage = FileTokenStorage(directory: vault)
        try await Credential.withStorage(storage, clock: sandbox.clock) {
            let token = try await signIn()
            try await signInWithPasskey()
            let credential = try await store(token)
            try await useAPIs(credential)
            try await stay(credential)
            try await refuseOldTokens()
            try await endAccess(credential)
            try await signOut(credential)
        }
    }

    private func client(_ application: SandboxApplication) -> OAuth2Client {
        // The client uses the port like a real app, not the in-process transport.
        let scope = ["openid", "profile", "email", "offline_access", "messages.read"]
        return OAuth2Client(sandbox.configuration(application, scope: scope), clock: sandbox.clock)
    }

    private func signIn() async throws -> Token {
        let client = client(.directAuth)
        let phone = try await reporter.step("Phone enrolled") {
            let phone = try await sandbox.phone(for: Self.jane.login)
            phone.autoApprove = approvesByItself
            return phone
        } telling: {
            "a virtual phone of \($0.login), with keys of its own"
        }
        _ = try await reporter.step("Discovery read") {
            try await client.openIdConfiguration()
        } telling: {
            "issuer \($0.issuer.absoluteString)"
        }
        let flow = DirectAuthenticationFlow(client: client)
        _ = try await reporter.step("Password accepted, a second factor asked for") {
            let status = try await flow.start(Self.jane.login, with: .password(Self.jane.password ?? ""))
            guard case .mfaRequired(let context) = status else { throw CommandFailure("The server did not require a second factor.") }
            return context
        } telling: {
            $0.supportedChallengeTypes?.map(\.rawValue).joined(separator: ", ") ?? "any"
        }
        let token = try await reporter.step("Signed in by an approval on the phone") {
            try await approved(flow, on: phone)
        } telling: {
            "\($0.tokenType) token for \($0.scope?.joined(separator: " ") ?? "nothing"); approved \(approvesByItself ? "by the phone itself" : "by you")"
        }
        _ = try await reporter.step("Id token validated") {
            guard let idToken = token.idToken else { throw CommandFailure("The server returned no ID token.") }
            guard try idToken.validate(using: try await client.jwks()) else { throw JWTError.signatureInvalid }
            guard let methods = idToken.authenticationMethods, methods.contains(.multipleFactor) else {
                throw CommandFailure("The ID token does not confirm two factors.")
            }
            return idToken
        } telling: {
            "\($0.header.algorithm.rawValue) by key \($0.header.keyId.prefix(8))…, subject \($0.subject ?? "unknown user"), for \($0.preferredUsername ?? ""), amr \($0.authenticationMethods?.map(\.rawValue).joined(separator: " ") ?? "")"
        }
        return token
    }

    /// Signs in once more, with a passkey alone. The tokens of this sign-in are revoked at once.
    private func signInWithPasskey() async throws {
        let client = client(.directAuth)
        let passkey = try await reporter.step("Passkey created") {
            try await sandbox.passkey(for: Self.jane.login)
        } telling: {
            "\($0.credentialID.prefix(8))… of \(Self.jane.login), a passkey in software with a key of its own"
        }
        _ = try await reporter.step("Signed in by the passkey, without a password") {
            let flow = DirectAuthenticationFlow(client: client)
            guard case .continuation(.webAuthn(let context)) = try await flow.start(Self.jane.login, with: .webAuthn) else {
                throw CommandFailure("The server did not ask for a passkey.")
            }
            let response = try passkey.assertion(for: context.request)
            guard case .success(let token) = try await flow.resume(with: .webAuthn(response: response)) else {
                throw CommandFailure("The server required another factor.")
            }
            guard let idToken = token.idToken, idToken.authenticationMethods?.contains(.multipleFactor) == true else {
                throw CommandFailure("The ID token does not confirm two factors.")
            }
            try await client.revoke(token, type: .all)
            return idToken
        } telling: {
            "one signature proves two factors, because the passkey verified Jane: amr \($0.authenticationMethods?.map(\.rawValue).joined(separator: " ") ?? "")"
        }
    }

    /// Waits for the approval by the user or the automated phone, and returns the token.
    private func approved(_ flow: DirectAuthenticationFlow, on phone: VirtualPhone) async throws -> Token {
        if !approvesByItself {
            Terminal.note("\nApprove the sign-in on Jane's phone: \(Terminal.styledNote("\(phonePage)", .bold))")
        }
        let notice = ApprovalNotice(json: false, isQuiet: approvesByItself)
        var status = try await notice.show(number: nil) { try await flow.resume(with: .oob(channel: .push)) }
        if case .continuation(.transfer(_, let number)) = status {
            if approvesByItself { phone.pickNumber(number) }
            status = try await notice.show(number: number) { try await flow.resume(with: .transfer) }
        }
        guard case .success(let token) = status else { throw CommandFailure("The server required another factor.") }
        return token
    }

    private var phonePage: String { sandbox.phoneURL?.absoluteString ?? "it has no page" }

    private func store(_ token: Token) async throws -> Credential {
        let credential = try await reporter.step("Credential stored") {
            try Credential.store(token)
        } telling: {
            "\($0.id), encrypted in \(vault.path())"
        }
        try await reporter.step("Credential found again by a second process") {
            guard try await SecondProcess.credentialIDs(vault: vault) == [credential.id] else {
                throw CommandFailure("The second process does not find the credential.")
            }
        } telling: {
            "countersign credential list --vault …"
        }
        return credential
    }

    private func useAPIs(_ credential: Credential) async throws {
        _ = try await reporter.step("User info read") {
            try await credential.userInfo()
        } telling: {
            "\($0.name ?? "?") <\($0.email ?? "?")>"
        }
        try await reporter.step("Messages refused without a token") {
            let (status, _) = try await messages(authorizedBy: nil)
            guard status == 401 else { throw CommandFailure("The resource server answered with \(status) instead of 401.") }
        } telling: {
            "401"
        }
        _ = try await reporter.step("Messages read with the access token") {
            let (status, body) = try await messages(authorizedBy: credential)
            guard status == 200 else { throw CommandFailure("The resource server answered with \(status) instead of 200.") }
            return body
        } telling: {
            String(decoding: $0, as: UTF8.self)
        }
    }

    private func stay(_ credential: Credential) async throws {
        let before = credential.token
        try await reporter.step("Tokens refreshed") {
            try await credential.refresh()
            guard credential.token.accessToken != before.accessToken else {
                throw CommandFailure("The refresh returned the same access token as before.")
            }
        } telling: {
            "a new access token and a new refresh token, stored"
        }
    }

    /// Reuses an old refresh token, which the server must refuse. The step has its own account, because the reuse ends the whole session.
    private func refuseOldTokens() async throws {
        try await reporter.step("Old refresh token refused after its grace") {
            let client = client(.password)
            let status = try await DirectAuthenticationFlow(client: client).start(
                "john.roe@example.com", with: .password("Battery-Staple-9"))
            guard case .success(let first) = status else { throw CommandFailure("John could not sign in.") }
            let second = try await client.refresh(first)
            sandbox.advance(by: 31)
            try await refused("the old refresh token") { _ = try await client.refresh(first) }
            try await refused("the new refresh token of a reused one") { _ = try await client.refresh(second) }
        } telling: {
            "31 seconds on; a stolen refresh token ends the session instead of taking it over"
        }
    }

    private func endAccess(_ credential: Credential) async throws {
        try await reporter.step("Access token introspected: active") {
            guard try await credential.introspect(.accessToken).active == true else {
                throw CommandFailure("The server says that the new access token is not active. Please report this bug of Countersign.")
            }
        }
        try await reporter.step("Access token revoked") { try await credential.revoke(type: .accessToken) }
        try await reporter.step("Access token introspected: inactive") {
            guard try await credential.introspect(.accessToken).active == false else { throw CommandFailure("The token is still active.") }
        }
    }

    private func signOut(_ credential: Credential) async throws {
        try await reporter.step("Signed out") { try await credential.revoke() }
        try await reporter.step("Nothing left in the vault") {
            let remaining = try await SecondProcess.credentialIDs(vault: vault)
            guard Credential.allIDs.isEmpty, Credential.default == nil, remaining.isEmpty else {
                throw CommandFailure("Sign-out left a credential in the storage.")
            }
        } telling: {
            "neither here nor for a second process"
        }
    }

    private func refused(_ what: String, _ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch {
            guard let code = ServerRefusal.code(of: error) else { throw error }
            guard code == "invalid_grant" else {
                throw CommandFailure(
                    "The server returned \(code) instead of invalid_grant for \(what). Please report this bug of Countersign.")
            }
            return
        }
        throw CommandFailure("The server accepted \(what).")
    }

    private func messages(authorizedBy credential: Credential?) async throws -> (Int, Data) {
        guard let url = sandbox.messagesURL?.appending(path: "api/messages") else {
            throw CommandFailure("The sandbox runs no resource server.")
        }
        var request = URLRequest(url: url)
        await credential?.authorize(&request)
        let (data, response) = try await session.data(for: request)
        return ((response as? HTTPURLResponse)?.statusCode ?? 0, data)
    }
}
