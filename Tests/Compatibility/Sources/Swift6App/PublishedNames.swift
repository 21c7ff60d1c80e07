import AuthFoundation
import BrowserSignin
import DeviceAuthenticator
import Foundation
import OAuth2Auth
import OktaAuthSdk
import OktaDirectAuth

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// Names and signatures of Okta's SDK that are easily lost: each is used once, as app code does. Both targets compile this file.

/// A claim of the app's own.
enum Department: String, ClaimConvertable, APIRequestArgument {
    case sales, support
}

func rawValues() {
    if let grant = GrantType(rawValue: "password") { _ = grant }
    if let format = APIContentType(rawValue: "text/csv") { _ = format }
    if let code = OAuth2ServerError.Code(rawValue: "invalid_grant") { _ = code }
    if let algorithm = JWK.Algorithm(rawValue: "RS256") { _ = algorithm }
    let departments = ClaimCollection<[Department]>(rawValue: "sales support")
    _ = departments.wrappedValue == [.sales, .support]
    let optional = ClaimCollection<[String]?>(rawValue: nil)
    _ = optional.rawValue
    let algorithms: [JWK.Algorithm] = [
        .rsa1_5, .ecdhES_a128KW, .ecdhES_a192KW, .ecdhES_a256KW, .pbes2_HS256_A128KW, .pbes2_HS384_A192KW, .pbes2_HS512_A256KW,
    ]
    _ = algorithms
}

func conformances() throws {
    let arguments: [any APIRequestArgument] = [Token.Kind.accessToken, JWTClaim.subject, GrantType.password]
    _ = arguments.map(\.stringValue)
    _ = try JSONEncoder().encode(APIRequestMethod.get)
    _ = try JSONEncoder().encode(APIContentType.json)
    _ = try JSONDecoder().decode([JWTClaim].self, from: Data("[]".utf8))
    _ = try JSONDecoder().decode([OpenIdConfiguration.ProviderMetadata].self, from: Data("[]".utf8))
    let method: any IsClaim = AuthenticationMethod.multipleFactor
    _ = method
    let parameters: any ProvidesOAuth2Parameters = DirectAuthenticationFlow.Intent.recovery
    _ = parameters.parameters(for: .token)
    _ = try DeviceAuthorizationFlow.Verification(Data(), userInfo: [.tokenId: "id", .tokenContext: "", .clientSettings: ""])
    _ = CodingUserInfoKey.apiClientConfiguration
}

func helpers(_ user: UserInfo, _ url: URL) async throws {
    _ = user.nameComponents.givenName
    _ = Data([1, 2]).base64URLEncodedString + [UInt8]([1]).base64URLEncodedString + "-_".base64URLDecoded
    _ = Data().sha256()
    _ = [UInt8].random(count: 16)
    _ = String.nonce(length: 20)
    _ = ["a": "b c"].percentQueryEncoded
    let version = SDKVersion.register(sdk: SDKVersion(sdk: "my-app", version: "1.0"))
    _ = (version.name.description, SDKVersion.version(for: "my-app")?.displayName, SDKVersion.authFoundation.version)
    _ = await CredentialActor.run { 1 }
}

/// A migrator without `Sendable`.
final class AppMigrator: SDKVersionMigrator {
    var needsMigration = false
    func migrate() throws { needsMigration = false }
}

func migration(_ file: URL, _ migrator: Migration.LegacyOIDC) throws {
    Migration.register(migrator: AppMigrator())
    try Migration.LegacyOIDC.register()
    Migration.LegacyOIDC.register(clientId: "client")
    try Migration.LegacyOIDC.register(plist: file)
    if migrator.needsMigration { try migrator.migrate() }
    if Migration.isMigrationNeeded { try Migration.migrateIfNeeded() }
    _ = Notification.Name.credentialMigrated
}

/// A client that implements the errors' own form.
final class AppClient: APIClient {
    let baseURL: URL
    let session: any URLSessionProtocol

    init(_ url: URL, _ session: any URLSessionProtocol) { (baseURL, self.session) = (url, session) }

    func didSend(request: URLRequest, received error: APIClientError) {}

    func load(_ request: URLRequest) async throws -> APIResponse<Empty> { try await send(request) }
    func read(_ data: Data) throws -> Empty { try decode(Empty.self, from: data) }
}

/// A flow whose requirements are isolated to the actor.
actor AppFlow: AuthenticationFlow {
    typealias Context = StandardAuthenticationContext
    typealias Delegate = any AuthenticationDelegate

    struct Request: AuthenticationFlowRequest {
        typealias Flow = AppFlow
        var context: AppFlow.Context
    }

    nonisolated let client: OAuth2Client
    nonisolated let delegateCollection = DelegateCollection<any AuthenticationDelegate>()
    nonisolated let nonce: String? = nil
    nonisolated let maxAge: TimeInterval? = nil
    var context: Context?
    var isAuthenticating = false
    let additionalParameters: [String: any APIRequestArgument]?

    init(client: OAuth2Client, additionalParameters: [String: any APIRequestArgument]?) {
        (self.client, self.additionalParameters) = (client, additionalParameters)
    }

    func reset() {}
}

func flows(_ client: OAuth2Client, _ browser: BrowserSignin, _ logout: SessionLogoutFlow) async throws {
    _ = logout.inProgress
    let delegates: [any OAuth2ClientDelegate] = [
        JWTAuthorizationFlow(client: client, additionalParameters: nil), ResourceOwnerFlow(client: client, additionalParameters: nil),
    ]
    _ = delegates
    _ = try await BrowserSignin.createWebAuthenticationProvider(for: browser, from: nil, options: [])
}

@available(*, deprecated, message: "Uses names of version 1.")
func version1(_ client: OAuth2Client, _ url: URL) throws {
    _ = try AuthorizationCodeFlow(redirectUri: url, additionalParameters: nil, client: client)
    _ = try client.authorizationCodeFlow(redirectUri: url, additionalParameters: nil)
    _ = try client.sessionTokenFlow(redirectUri: url)
    _ = SessionLogoutFlow(logoutRedirectUri: url, client: client)
    _ = try SessionTokenFlow(redirectUri: url, client: client)
    _ = BrowserSigninError.noAuthenticatorProviderResonse
    _ = AuthStatus.success.description + FactorType.push.description
}

func sessions(_ configuration: OAuth2Client.Configuration, _ token: JWT) -> TimeInterval {
    let client = OAuth2Client(configuration, session: URLSession(configuration: .ephemeral))
    _ = client.session as? URLSession
    return token.expiresIn
}

func settable(_ reset: OktaAuthStatusPasswordReset) {
    reset.passwordComplexity = nil
    reset.passwordExpiration = nil
    HTTPURLResult.supportsSecureCoding = true
}

func responses(_ error: inout OktaAPIErrorResponse, _ success: inout OktaAPISuccessResponse) {
    error.errorCode = "E0000004"
    error.errorSummary = nil
    error.errorLink = nil
    error.errorId = nil
    error.errorCauses = []
    success.rawData = nil
}
