import AuthFoundation
import CountersignSandbox
import Foundation
import OktaDirectAuth
import TestSupport
import Testing

/// The connection between the SDK and the sandbox.
enum Reach: String, CaseIterable, Sendable {
    /// `URLSession` over the sandbox's port.
    case port
    /// The sandbox's transport inside the process, without a port.
    case process
}

extension Sandbox {
    /// Returns a client with this connection.
    func client(_ application: SandboxApplication = .password, by reach: Reach, clock: (any OAuth2Clock)? = nil) -> OAuth2Client {
        OAuth2Client(configuration(application), session: reach == .process ? transport : nil, clock: clock ?? self.clock)
    }

    /// Signs a user in.
    func signIn(_ user: SandboxUser = .jane, with client: OAuth2Client) async throws -> Token {
        let status = try await DirectAuthenticationFlow(client: client).start(user.login, with: .password(user.password ?? ""))
        guard case .success(let token) = status else { throw UnexpectedStatus(status: status) }
        return token
    }

    /// Signs a user in over the port.
    func signIn(_ user: SandboxUser = .jane) async throws -> Token {
        try await signIn(user, with: client(by: .port))
    }

    func count(_ endpoint: Fault.Endpoint, grant: String? = nil) -> Int {
        requests.count { $0.endpoint == endpoint && (grant == nil || $0.grantType == grant) }
    }
}

struct UnexpectedStatus: Error { let status: DirectAuthenticationFlow.Status }

/// Runs a test with its own sandbox, and stops the sandbox afterwards.
func withSandbox(
    _ configuration: Sandbox.Configuration = .init(), _ body: (Sandbox) async throws -> Void
) async throws {
    let sandbox = try await Sandbox.forTest(configuration)
    do {
        try await body(sandbox)
    } catch {
        await sandbox.stop()
        throw error
    }
    await sandbox.stop()
}

/// Runs a test with its own sandbox and with credentials in their own store, on the sandbox's clock.
func withSandboxAndStore(
    _ configuration: Sandbox.Configuration = .init(), _ body: (Sandbox) async throws -> Void
) async throws {
    try await withSandbox(configuration) { sandbox in
        try await Credential.withStorage(MemoryTokenStorage(), clock: sandbox.clock) { try await body(sandbox) }
    }
}

/// Returns the OAuth error code of an error.
func serverCode(of error: (any Error)?) -> String? {
    guard let error, case .server(let inner) = OAuth2Error(error) else { return nil }
    return inner.code.rawValue
}

/// Returns the error that the closure throws; `nil` if it throws none.
func thrown(_ body: () async throws -> Void) async -> (any Error)? {
    do {
        try await body()
        return nil
    } catch {
        return error
    }
}
