import AuthFoundation
import Foundation
import JOSE
import TestSupport
import Testing

/// A running OpenID provider of another project, with one user and one public app.
struct ForeignProvider: Sendable {
    static let redirectURI = "http://127.0.0.1:49152/callback"

    let issuer: URL
    /// The client id of the app.
    let clientID: String
    /// The user name.
    let name: String
    private let folder: URL

    /// Runs a test with its own provider.
    static func with(_ body: (ForeignProvider) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        let started = try await run(["start", folder.url.path, redirectURI])
        let provider = ForeignProvider(
            issuer: try #require(started["issuer"]?.stringValue.flatMap { URL(string: $0) }),
            clientID: try #require(started["client"]?.stringValue), name: try #require(started["name"]?.stringValue), folder: folder.url)
        do {
            try await body(provider)
        } catch {
            _ = try await run(["stop", folder.url.path])
            throw error
        }
        _ = try await run(["stop", folder.url.path])
    }

    /// Returns a client of the provider.
    func client(usesDPoP: Bool = false) -> OAuth2Client {
        var configuration = OAuth2Client.Configuration(
            issuerURL: issuer, clientId: clientID, scope: "openid profile offline_access", redirectUri: URL(string: Self.redirectURI))
        configuration.usesDPoP = usesDPoP
        return OAuth2Client(configuration, dpopKeys: MemoryDPoPKeyStorage())
    }

    /// Signs the user in and consents at the address that the app opened.
    ///
    /// - Returns: The redirect of the provider.
    func approve(_ url: URL) async throws -> URL {
        let answer = try await Self.run(["approve", folder.path, url.absoluteString])
        return try #require(answer.stringValue.flatMap { URL(string: $0) })
    }

    private static func run(_ arguments: [String]) async throws -> JSONValue {
        let result = try await ForeignProgram.run(
            .glewlwyd, [OutsidePart.scripts.appending(path: "glewlwyd.py").path] + arguments, input: "")
        try #require(result.status == 0, "\(result.errors)")
        return try JSONValue(parsing: result.output)
    }
}
