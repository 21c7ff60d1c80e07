import AuthFoundation
import Foundation
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Uses the public API as apps do. Some of the code is only compiled.
@Suite("Published API")
struct PublishedSurfaceTests {
    final class AppSession: URLSessionProtocol {
        func data(for request: URLRequest) async throws -> (Data, URLResponse) { throw URLError(.notConnectedToInternet) }
        var configuration: URLSessionConfiguration { .ephemeral }
    }

    final class AppObserver: OAuth2Client.Delegate {
        func api(client: any APIClient, willSend request: inout URLRequest) { request.setValue("1", forHTTPHeaderField: "X-App") }
        func api(
            client: any APIClient, didSend request: URLRequest, received error: APIClientError, requestId: String?, rateLimit: APIRateLimit?
        ) {}
        func api(client: any APIClient, didSend request: URLRequest, received response: HTTPURLResponse) {}
        func api<T>(client: any APIClient, didSend request: URLRequest, received response: APIResponse<T>) {}
        func api(client: any APIClient, shouldRetry request: URLRequest) -> APIRetry { .retry(maximumCount: 1) }
        func oauth(client: OAuth2Client, willRefresh token: Token) {}
        func oauth(client: OAuth2Client, didRefresh token: Token, replacedWith newToken: Token?) {}
    }

    struct AppTokenValidator: IDTokenValidator {
        var issuedAtGraceInterval: TimeInterval = 300
        func validate(token: JWT, issuer: URL, clientId: String, context: (any IDTokenValidatorContext)?) throws {}
    }

    struct AppHashValidator: TokenHashValidator {
        func validate(_ string: String, idToken: JWT) throws {}
    }

    struct AppTime: TimeCoordinator {
        var now: Date { Date(timeIntervalSince1970: 0) }
        func date(from date: Date) -> Date { date }
    }

    struct AppRequest: APIRequest, APIRequestBody, APIParsingContext {
        typealias ResponseType = Empty
        let url: URL
        var httpMethod: APIRequestMethod { .put }
        var contentType: APIContentType? { .json }
        var bodyParameters: [String: any APIRequestArgument]? { ["count": 1, "name": "x", "on": true] }
    }

    @Test("An OAuth2Client can be created with every published initializer")
    func clients() throws {
        let issuer = try #require(URL(string: "https://id.example.com"))
        let session = AppSession()
        let clients = [
            OAuth2Client(OAuth2Client.Configuration(issuerURL: issuer, clientId: "app", scope: "openid")),
            OAuth2Client(OAuth2Client.Configuration(issuerURL: issuer, clientId: "app", scope: ["openid"]), session: session),
            OAuth2Client(issuerURL: issuer, clientId: "app", scope: "openid", session: session),
            OAuth2Client(issuerURL: issuer, clientId: "app", scope: ["openid"], redirectUri: issuer, authentication: .clientSecret("s")),
            OAuth2Client(issuerURL: issuer, discoveryURL: issuer, clientId: "app", scope: String("openid")),
            OAuth2Client(try .init(domain: "id.example.com", clientId: "app", scope: "openid", redirectUri: "com.app:/callback")),
            try OAuth2Client(
                OAuth2Client.PropertyListConfiguration(["issuer": "https://id.example.com", "clientId": "app", "scopes": "openid"])),
        ]
        #expect(clients.allSatisfy { $0.baseURL == issuer && $0.configuration.scope == ["openid"] && $0.openIdConfiguration == nil })
        #expect((clients[1].session as? AppSession) === session)
        let observer = AppObserver()
        clients[0].add(delegate: observer)
        clients[0].remove(delegate: observer)
    }

    @Test("An APIRequest of an app has the declared method and body, and throws a transient error if the device is offline")
    func appRequest() async throws {
        let target = try #require(URL(string: "https://api.example.com/x"))
        let client = OAuth2Client(issuerURL: target, clientId: "app", scope: "openid", session: AppSession())
        let request = try AppRequest(url: target).request(for: client)
        #expect(request.httpMethod == "PUT" && request.httpBody == Data(#"{"count":"1","name":"x","on":"true"}"#.utf8))
        let error = await #expect(throws: APIClientError.self) { try await AppRequest(url: target).send(to: client) }
        #expect(error?.isTransient == true)
    }

    @Test("The public errors of AuthFoundation have localized descriptions")
    func errors() {
        let errors: [any Error] = [
            OAuth2Error.redirectUriRequired, OAuth2Error.multiple(errors: [.invalidUrl, .invalidContext]), APIClientError.missingResponse(),
            JWTError.cannotCreateKey(code: -1, description: "x"), JWTError.unsupportedAlgorithm(.none), TokenError.tokenNotFound(id: "x"),
            CredentialError.missingCoordinator, ClaimError.missingRequiredValue(key: "sub"),
            OAuth2Client.PropertyListConfigurationError.defaultPropertyListNotFound, OAuth2Error.RedirectReason.state("x"),
        ]
        for error in errors {
            #expect((error as? any LocalizedError)?.errorDescription?.isEmpty == false, "\(error)")
        }
        #expect(OAuth2Error.error(URLError(.timedOut)) == .error(URLError(.timedOut)))
        #expect(OAuth2Error.error(URLError(.timedOut)) != .error(URLError(.badURL)))
        #expect(APIClientError.httpError(TokenError.cannotReplaceToken) != .httpError(TokenError.contextMissing))
    }

    /// Changes static properties. The function is compiled but not run, because these properties belong to the whole process.
    private func statics(token: Token, client: OAuth2Client, info: UserInfo) async throws {
        Token.idTokenValidator = AppTokenValidator()
        Token.idTokenValidator.issuedAtGraceInterval = 600
        Token.accessTokenValidator = AppHashValidator()
        Token.deviceSecretValidator = AppHashValidator()
        Date.coordinator = AppTime()
        OAuth2Client.defaultSession = AppSession()
        DebugAPIRequestObserver.shared.observeAllOAuth2Clients = true
        _ = try await Token.from(refreshToken: "r", scope: ["openid"], using: client)
        Token.from(refreshToken: "r", using: client) { _ in }
        client.openIdConfiguration { _ in }
        client.jwks { _ in }
        client.refresh(token) { _ in }
        client.revoke(token, type: .all) { _ in }
        client.introspect(token: token, type: .accessToken) { _ in }
        client.userInfo(token: token) { _ in }
        let scope: String = token.scope?.joined(separator: " ") ?? ""
        let lines = [token.tokenType, token.accessToken, scope, token.idToken?.rawValue ?? "", token.refreshToken ?? ""]
        let left: TimeInterval = token.expiresIn
        _ = (lines, left, token.isExpired, token.isValid, token.expiresAt, Date.nowCoordinated, Date.nowCoordinated.coordinated, PKCE())
        _ = (info.name, info.preferredUsername, info.subject, info.updatedAt, info.email)
        let groups: [String]? = info[.groups]
        let level: Int? = info["level"]
        _ = (groups, level, SDKVersion.userAgent, SDKVersion.register(.init(rawValue: "app"), version: "1")?.displayName)
    }
}
