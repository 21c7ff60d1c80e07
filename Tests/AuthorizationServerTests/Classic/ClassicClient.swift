import Foundation
import IdentityCore
import JOSE
import TestSupport
import Testing

/// A client of the classic sign-in API that sends raw requests and follows links (Documentation/Protocol/Authn.md).
struct ClassicClient: Sendable {
    static let base = RunningServer.origin + "/api/v1/authn"

    let server: PushServer
    /// The additional headers of every request.
    var headers: [(String, String)] = []

    init(_ server: PushServer, headers: [(String, String)] = []) { (self.server, self.headers) = (server, headers) }

    func post(_ path: String, _ body: JSONValue, headers: [(String, String)] = []) async throws -> WireResponse {
        try await server.wire.call(
            "POST", "/api/v1/authn" + path,
            headers: [("Accept", "application/json"), ("Content-Type", "application/json")] + self.headers + headers,
            body: body.serialized())
    }

    func signIn(
        _ login: String = PushOrganization.jane, _ password: String = PushOrganization.janesPassword, _ more: [String: JSONValue] = [:]
    ) async throws -> WireResponse {
        try await post("", .object(["username": .string(login), "password": .string(password)].merging(more) { $1 }))
    }

    /// Starts a sign-in of Jane with her password, and returns its first status.
    func begin(_ more: [String: JSONValue] = [:]) async throws -> ClassicStatus {
        try ClassicStatus(try await signIn(PushOrganization.jane, PushOrganization.janesPassword, more))
    }

    /// Follows a link with the state token and, as official clients do, without the link's query.
    func follow(
        _ link: JSONValue?, of status: ClassicStatus, _ more: [String: JSONValue] = [:], query: String = ""
    ) async throws -> WireResponse {
        let href = try #require(link?["href"]?.stringValue)
        try #require(href.hasPrefix(Self.base), "\(href)")
        let token = try #require(status.json["stateToken"])
        return try await post(href.dropFirst(Self.base.count) + query, .object(["stateToken": token].merging(more) { $1 }))
    }

    /// Enrolls an authenticator app for a user, by default for Jane.
    func app(_ login: String = PushOrganization.jane) async throws -> ClassicApp {
        let id = try #require(try await server.engine.user(login: login)?.id)
        let context = RequestContext(now: server.clock.now, requestID: "enrollment")
        let offer = try #require(try await server.engine.grantAuthenticatorApp(userID: id, context: context))
        return ClassicApp(id: offer.id, secret: try #require(Base32.decode(offer.secret)), clock: server.clock)
    }
}

/// An authenticator app.
struct ClassicApp: Sendable {
    let id: String
    let secret: [UInt8]
    let clock: ManualClock

    func code(after steps: Int64 = 0) -> String {
        TimeBasedCode.code(secret: secret, step: TimeBasedCode.step(at: clock.now) + steps)
    }

    /// A code that is not valid in any time step near the current one.
    var wrongCode: String {
        let shown = (-20...20).map { code(after: $0) }
        return (0...).lazy.map { String(format: "%06d", $0) }.first { !shown.contains($0) } ?? ""
    }
}

/// A transaction from a response with status 200 and a JSON object.
struct ClassicStatus: Sendable {
    let json: JSONValue

    init(_ response: WireResponse, sourceLocation: SourceLocation = #_sourceLocation) throws {
        try #require(response.status == 200, "\(response.body)", sourceLocation: sourceLocation)
        expectProtocolHeaders(response, sourceLocation: sourceLocation)
        json = try response.json
        try #require(json.objectValue != nil, sourceLocation: sourceLocation)
    }

    var name: String { json["status"]?.stringValue ?? "" }
    var token: String? { json["stateToken"]?.stringValue }
    var embedded: JSONValue { json["_embedded"] ?? .null }
    var links: JSONValue { json["_links"] ?? .null }
    var next: JSONValue? { links["next"] }
    var factors: [JSONValue] { embedded["factors"]?.arrayValue ?? [] }

    /// Returns the factor of a type in the list of factors.
    func factor(_ type: String) throws -> JSONValue {
        try #require(factors.first { $0["factorType"] == .string(type) }, "\(json)")
    }

    /// The relations of the links, each with the link's name if it has one: `next(poll)`.
    var linkNames: [String] {
        (links.objectValue ?? [:]).map { name, link in
            let inner = link["name"]?.stringValue ?? link[0]?["name"]?.stringValue
            return inner.map { "\(name)(\($0))" } ?? name
        }.sorted()
    }

    /// The names of the embedded objects.
    var embeddedNames: [String] { (embedded.objectValue ?? [:]).keys.sorted() }
}

/// Checks the status, the error object and the headers of an error response, and returns the summaries of its causes.
@discardableResult
func expectClassicRefusal(
    _ response: WireResponse, _ status: Int, _ code: String, causes: Int = 0, sourceLocation: SourceLocation = #_sourceLocation
) throws -> [String] {
    #expect(response.status == status, "\(response.body)", sourceLocation: sourceLocation)
    let body = try #require(try response.json.objectValue, sourceLocation: sourceLocation)
    #expect(Set(body.keys) == ["errorCode", "errorSummary", "errorLink", "errorId", "errorCauses"], sourceLocation: sourceLocation)
    #expect(body["errorCode"] == .string(code), "\(response.body)", sourceLocation: sourceLocation)
    #expect(body["errorLink"] == .string(code), sourceLocation: sourceLocation)
    #expect(body["errorSummary"]?.stringValue?.isEmpty == false, sourceLocation: sourceLocation)
    let requestID = try #require(response["x-okta-request-id"], sourceLocation: sourceLocation)
    #expect(body["errorId"] == .string("oae" + requestID), sourceLocation: sourceLocation)
    let found = try #require(body["errorCauses"]?.arrayValue, sourceLocation: sourceLocation)
    #expect(found.count == causes, "\(found)", sourceLocation: sourceLocation)
    expectProtocolHeaders(response, sourceLocation: sourceLocation)
    return found.compactMap { $0["errorSummary"]?.stringValue }
}
