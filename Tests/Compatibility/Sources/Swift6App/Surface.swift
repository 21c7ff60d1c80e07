import AuthFoundation
import Foundation
import OktaDirectAuth

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// Each function uses one part of the public API with the labels, defaults and effects that app code relies on.

func configurations() throws {
    let issuer = URL(string: "https://id.example.com/oauth2/default")!
    _ = OAuth2Client(issuerURL: issuer, clientId: "app", scope: "openid profile")
    _ = OAuth2Client(issuerURL: issuer, clientId: "app", scope: ["openid", "profile"], authentication: .clientSecret("s"))
    _ = OAuth2Client(issuerURL: issuer, discoveryURL: nil, clientId: "app", scope: "openid", redirectUri: URL(string: "app:/callback"))
    let configuration = OAuth2Client.Configuration(issuerURL: issuer, clientId: "app", scope: "openid offline_access")
    _ = OAuth2Client(configuration)
    _ = try OAuth2Client.Configuration(domain: "id.example.com", clientId: "app", scope: "openid")
    _ = try OAuth2Client.PropertyListConfiguration(plist: URL(filePath: "/tmp/Okta.plist"))
    _ = try OAuth2Client.PropertyListConfiguration(["issuer": "https://id.example.com", "clientId": "app", "scopes": "openid"])
    _ = try OAuth2Client.PropertyListConfiguration(commandLine: ["--issuer", "https://id.example.com"])
}

func client(_ client: OAuth2Client, _ token: Token) async throws {
    _ = try await client.openIdConfiguration().tokenEndpoint
    _ = try await client.jwks()
    _ = try await client.refresh(token)
    try await client.revoke(token, type: .accessToken)
    _ = try await client.introspect(token: token, type: .accessToken).active
    _ = try await client.userInfo(token: token).name
    client.userInfo(token: token) { result in
        if case .success(let user) = result { _ = user.email }
    }
}

func credentials(_ token: Token) async throws {
    let credential = try Credential.store(token, tags: ["role": "admin"])
    _ = try Credential.with(id: credential.id)
    _ = try Credential.find { $0.tags["role"] == "admin" }
    _ = try Credential.find { $0.subject == "00u1" }
    _ = Credential.allIDs
    Credential.default = credential
    credential.tags = [:]
    try credential.setTags(["a": "b"])
    credential.automaticRefresh = true
    var request = URLRequest(url: URL(string: "https://api.example.com")!)
    credential.authorize(request: &request)
    await credential.authorize(&request)
    try await credential.refresh()
    try await credential.refreshIfNeeded(graceInterval: 60)
    try await credential.revoke(type: .refreshToken)
    _ = try await credential.introspect(.accessToken)
    credential.refresh { result in
        if case .failure(let error) = result { _ = error.localizedDescription }
    }
    try credential.remove()
    Credential.default = nil
    _ = Credential.default?.token.idToken?.subject
}

func claims(_ jwt: JWT) throws {
    let department: String? = jwt["department"]
    let groups: [String] = try jwt.value(for: .groups)
    _ = (department, groups, jwt.allClaims, jwt.customClaims, jwt[.email] as String?)
}

func errors(_ error: any Error) -> String {
    switch error {
    case OAuth2Error.server(let server): server.code.rawValue
    case APIClientError.httpError(let inner as OAuth2ServerError): inner.description ?? ""
    case APIClientError.statusCode(let status): "\(status)"
    case JWTError.expired: "expired"
    case DirectAuthenticationFlowError.pollingTimeoutExceeded: "too late"
    case is CredentialError, is TokenError, is ClaimError: "stored"
    default: error.localizedDescription
    }
}

func everyStatus(_ flow: DirectAuthenticationFlow) async throws -> String {
    switch try await flow.start("jane", with: .password("secret"), context: .init(acrValues: ["phr"], intent: .signIn)) {
    case .success(let token): return token.accessToken
    case .mfaRequired(let context): return context.supportedChallengeTypes?.first?.rawValue ?? ""
    case .continuation(.transfer(_, code: let code)): return code
    case .continuation(.prompt): _ = try await flow.resume(with: .prompt(code: "123456"))
    case .continuation(.webAuthn(let context)): return context.request.publicKey.challenge
    }
    _ = try await flow.resume(with: .otp(code: "123456"))
    _ = try await flow.resume(with: .transfer)
    await flow.reset()
    flow.reset {}
    flow.start("jane", with: .oob(channel: .push)) { result in
        if case .failure(let error) = result { _ = error.localizedDescription }
    }
    return ""
}

final class Watcher: DirectAuthenticationFlowDelegate {
    func authentication<Flow>(flow: Flow, received status: DirectAuthenticationFlow.Status) {}
    func authenticationStarted<Flow>(flow: Flow) {}
    func authenticationFinished<Flow>(flow: Flow) {}
    func authentication<Flow>(flow: Flow, received token: Token) {}
    func authentication<Flow>(flow: Flow, received error: OAuth2Error) {}
}

final class Observer: OAuth2ClientDelegate {
    func api(client: any APIClient, willSend request: inout URLRequest) { request.setValue("1", forHTTPHeaderField: "x-app") }
    func oauth(client: OAuth2Client, didRefresh token: Token, replacedWith newToken: Token?) {}
}

struct OwnSession: URLSessionProtocol {
    let configuration = URLSessionConfiguration.ephemeral
    func data(for request: URLRequest) async throws -> (Data, URLResponse) { throw URLError(.notConnectedToInternet) }
}

func seams(_ configuration: OAuth2Client.Configuration) {
    _ = OAuth2Client(configuration, session: OwnSession())
    OAuth2Client.defaultSession = OwnSession()
    for name in [Notification.Name.tokenRefreshed, .defaultCredentialChanged, .credentialRemoved] { _ = name }
}
