internal import Foundation
internal import OktaAuthSdk

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// A service without a server, for previews. Every action leads to the same state of a sign-in.
final class InMemoryClassicService: ClassicServicing {
    /// A state of a sign-in.
    enum Sample: String, CaseIterable {
        /// Several factors to choose from, two of them with the same name.
        case factors
        /// A push with a number challenge that is never answered.
        case push
        /// An authenticator app that is being enrolled.
        case enrollment
        /// A password that expires soon.
        case password
    }

    private(set) var signedInUser: String?
    private let sample: Sample

    /// Creates a service that starts on the sign-in form, or with a signed-in user.
    ///
    /// - Parameters:
    ///   - sample: The state that every action leads to.
    ///   - user: The signed-in user; `nil` for none.
    init(_ sample: Sample = .factors, user: String? = nil) {
        self.sample = sample
        signedInUser = user
    }

    /// Returns the initial status. The statuses are the SDK's own, but their requests get the sample's response.
    private func start() throws -> OktaAuthStatusUnauthenticated {
        guard let organization = URL(string: "https://id.example.com") else { throw OktaError.emptyServerResponse }
        let start = OktaAuthStatusUnauthenticated(oktaDomain: organization)
        start.restApi.httpRequestListener = OneAnswer(body: sample.answer)
        return start
    }

    func signIn(username: String, password: String) async throws -> OktaAuthStatus {
        try await start().authenticate(username: username, password: password)
    }

    func recoverPassword(username: String, by way: OktaRecoveryFactors) async throws -> OktaAuthStatus {
        try await start().recoverPassword(username: username, factorType: way)
    }

    func unlockAccount(username: String, by way: OktaRecoveryFactors) async throws -> OktaAuthStatus {
        try await start().unlockAccount(username: username, factorType: way)
    }

    func goOn(with token: String, of kind: ClassicTokenKind) async throws -> OktaAuthStatus { try await start().fetchStatus(token) }
    func text(ofPicture picture: URL) async -> String? { nil }
    func finish(sessionToken: String) async throws -> Bool { false }
    func signOut() async throws { signedInUser = nil }
}

/// A transport that returns the same response to every request, without a network.
private struct OneAnswer: OktaHTTPRequestListenerProtocol {
    let body: String

    func sendRequest(_ request: URLRequest, completionHandler: @escaping (Data?, URLResponse?, (any Error)?) -> Void) {
        let response = request.url.flatMap {
            HTTPURLResponse(url: $0, statusCode: 200, httpVersion: nil, headerFields: ["Content-Type": "application/json"])
        }
        completionHandler(Data(body.utf8), response, nil)
    }
}

extension InMemoryClassicService.Sample {
    /// The server's response in the state.
    fileprivate var answer: String {
        switch self {
        case .factors:
            transaction(
                "MFA_REQUIRED",
                #""factors":[\#(factor("push", #"{"name":"iPhone"}"#)),\#(factor("push", #"{"name":"iPhone"}"#, id: "f2")),"#
                    + #"\#(factor("sms", #"{"phoneNumber":"+1 XXX-XXX-4821"}"#, id: "f3")),"#
                    + #"\#(factor("question", #"{"question":"q","questionText":"What was your first award?"}"#, id: "f4"))]"#,
                links: [])
        case .push:
            transaction(
                "MFA_CHALLENGE",
                #""factor":{"id":"f1","factorType":"push","provider":"OKTA","profile":{"name":"iPhone"},"#
                    + #""_embedded":{"challenge":{"correctAnswer":42}}}"#,
                links: [link("next", "factors/f1/verify", name: "poll"), link("prev", "previous")], more: #""factorResult":"WAITING","#)
        case .enrollment:
            transaction(
                "MFA_ENROLL_ACTIVATE",
                #""factor":{"id":"f1","factorType":"token:software:totp","provider":"GOOGLE","_embedded":{"activation":{"#
                    + #""timeStep":30,"sharedSecret":"GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ","encoding":"base32","keyLength":6}}}"#,
                links: [link("next", "factors/f1/lifecycle/activate", name: "activate"), link("prev", "previous")])
        case .password:
            transaction(
                "PASSWORD_WARN", #""policy":{"expiration":{"passwordExpireDays":4},"complexity":{"minLength":10}}"#,
                links: [link("next", "credentials/change_password", name: "changePassword"), link("skip", "skip", name: "skip")])
        }
    }

    private func transaction(_ status: String, _ embedded: String, links: [String], more: String = "") -> String {
        let user = #""user":{"id":"u1","profile":{"login":"jane.doe@example.com","firstName":"Jane","lastName":"Doe"}}"#
        let links = (links + [link("cancel", "cancel")]).joined(separator: ",")
        return #"{"stateToken":"sample","expiresAt":"2099-01-01T00:00:00.000Z","status":"\#(status)",\#(more)"#
            + #""_embedded":{\#(user),\#(embedded)},"_links":{\#(links)}}"#
    }

    private func factor(_ type: String, _ profile: String, id: String = "f1") -> String {
        #"{"id":"\#(id)","factorType":"\#(type)","provider":"OKTA","profile":\#(profile),"#
            + #""_links":{\#(link("verify", "factors/\(id)/verify"))}}"#
    }

    private func link(_ relation: String, _ path: String, name: String? = nil) -> String {
        let named = name.map { #""name":"\#($0)","# } ?? ""
        return #""\#(relation)":{\#(named)"href":"https://id.example.com/api/v1/authn/\#(path)","hints":{"allow":["POST"]}}"#
    }
}
