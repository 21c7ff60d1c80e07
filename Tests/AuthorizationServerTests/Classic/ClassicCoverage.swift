import JOSE
import NIOConcurrencyHelpers
import TestSupport
import Testing

/// The parts of Documentation/Protocol/Authn.md that the tests cover over the wire, and the lists of all its parts. The list of
/// edges is in ``ClassicTable``.
struct ClassicCoverage: Sendable {
    /// The paths of the operations (Documentation/Protocol/Authn.md §4.1).
    static let operations: Set<String> = [
        "/", "/previous", "/skip", "/cancel", "/credentials/change_password", "/credentials/reset_password", "/factors",
        "/factors/{id}/lifecycle/activate", "/factors/{id}/lifecycle/activate/poll", "/factors/{id}/lifecycle/activate/email",
        "/factors/{id}/lifecycle/activate/sms", "/factors/{id}/lifecycle/resend", "/factors/{id}/verify", "/factors/{id}/verify/resend",
        "/factors/webauthn/verify",
        "/recovery/password", "/recovery/unlock", "/recovery/token", "/recovery/answer", "/recovery/factors/SMS/verify",
        "/recovery/factors/CALL/verify", "/recovery/factors/SMS/resend", "/recovery/factors/CALL/resend",
        "GET /users/{id}/factors/questions", "GET /users/{id}/factors/{id}/qr/{token}",
    ]

    /// The factor types with their providers (Documentation/Protocol/Authn.md §5.1).
    static let factors: Set<String> = [
        "question OKTA", "sms OKTA", "call OKTA", "email OKTA", "token:software:totp OKTA", "token:software:totp GOOGLE", "push OKTA",
        "token RSA", "token SYMANTEC", "token:hotp CUSTOM", "webauthn FIDO",
    ]

    /// The error codes (Documentation/Protocol/Authn.md §1.5).
    static let codes: Set<String> = [
        "E0000001", "E0000003", "E0000004", "E0000007", "E0000008", "E0000011", "E0000014", "E0000015", "E0000022", "E0000028", "E0000032",
        "E0000034", "E0000047", "E0000067", "E0000068", "E0000069", "E0000074", "E0000079", "E0000080", "E0000082", "E0000083", "E0000087",
        "E0000095", "E0000098", "E0000099", "E0000109", "E0000113", "E0000118", "E0000121", "E0000133",
    ]

    /// The parts of the protocol that this server does not support, with the reasons.
    static let absent: [String: String] = [
        "/factors/{id}/lifecycle/duoCallback": "there is no Duo: E0000008",
        "web DUO": "cannot be set up: E0000015", "u2f FIDO": "cannot be set up: E0000015",
        "token:hardware YUBICO": "cannot be set up: E0000001; its codes are what token:hotp has",
        "E0000006": "no operation asks for a permission beyond an API token, and of that E0000011 is told",
        "E0000009": "is what a store that fails is answered with, not the API",
        "E0000017": "a rejected password is reported with its rules: E0000080",
        "E0000035": "everybody may change a password that is due",
        "E0000064": "PASSWORD_EXPIRED tells it", "E0000070": "WAITING tells it", "E0000073": "REJECTED tells it",
        "E0000085": "a denial by the policy is answered as a wrong password is: E0000004",
        "E0000097": "would tell who has a telephone; a trusted caller gets the token itself",
        "E0000105": "is for the links of mails, which lead to pages", "E0000110": "is for the links of mails, which lead to pages",
        "E0000119": "no lock is for administrators alone", "E0000126": "would tell what the policy allows; trusted callers get E0000034",
        "E0000138": "messages are sent after the answer", "E0000139": "messages are sent after the answer",
    ]

    var edges: Set<String> = []
    /// The covered operations, each with the edges or requests that cover the operation.
    var operations: [String: Set<String>] = [:]
    var factors: [String: Set<String>] = [:]
    var codes: [String: Set<String>] = [:]

    /// A readable report of the coverage.
    var text: String {
        func list(_ title: String, _ items: [String: Set<String>]) -> String {
            title + "\n"
                + items.sorted { $0.key < $1.key }.map { "  \($0.key)\n" + $0.value.sorted().prefix(4).map { "      \($0)\n" }.joined() }
                .joined()
        }
        return "Edges\n" + edges.sorted().map { "  \($0)\n" }.joined() + list("Operations", operations) + list("Factor types", factors)
            + list("Error codes", codes) + list("Not here", Self.absent.mapValues { [$0] })
    }
}

/// A client that walks through the state machine and records its coverage.
final class ClassicWalk {
    let client: ClassicClient
    private let coverage: NIOLockedValueBox<ClassicCoverage>
    private(set) var status: ClassicStatus?
    private var lastOperation = "/"

    init(_ client: ClassicClient, _ coverage: NIOLockedValueBox<ClassicCoverage>) { (self.client, self.coverage) = (client, coverage) }

    /// Posts to a path, with the current state token if there is one.
    func post(_ path: String, _ body: [String: JSONValue] = [:], query: String = "") async throws -> WireResponse {
        var body = body
        if body["stateToken"] == nil, let token = status?.token { body["stateToken"] = .string(token) }
        let template = path.split(separator: "/").map { $0.utf8.count == 20 ? "{id}" : String($0) }.joined(separator: "/")
        lastOperation = "/" + template
        return try await client.post(path + query, .object(body))
    }

    /// Records that a request covers an entry of a list.
    func note(_ list: any WritableKeyPath<ClassicCoverage, [String: Set<String>]> & Sendable, _ entry: String, by proof: String) {
        coverage.withLockedValue { _ = $0[keyPath: list][entry, default: []].insert(proof) }
    }

    /// Posts to the address of a link.
    func follow(_ link: JSONValue?, _ body: [String: JSONValue] = [:], query: String = "") async throws -> WireResponse {
        let href = try #require(link?["href"]?.stringValue)
        return try await post(String(href.dropFirst(ClassicClient.base.count)), body, query: query)
    }

    /// Checks a response against an edge of the state machine, records the edge and moves to the new state.
    @discardableResult
    func step(
        _ operation: String, _ response: WireResponse, to: String, links: [String], embedded: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> ClassicStatus {
        let next = try ClassicStatus(response, sourceLocation: sourceLocation)
        #expect(next.name == to, "\(next.json)", sourceLocation: sourceLocation)
        #expect(next.linkNames == links, sourceLocation: sourceLocation)
        #expect(next.embeddedNames == embedded, sourceLocation: sourceLocation)
        if let token = status?.token, let other = next.token { #expect(token == other, sourceLocation: sourceLocation) }
        let edge = "\(status?.name ?? "(none)") | \(operation) | \(to)"
        coverage.withLockedValue { _ = $0.edges.insert(edge) }
        note(\.operations, lastOperation, by: edge)
        for factor in next.factors + [next.embedded["factor"] ?? .null] {
            guard let type = factor["factorType"]?.stringValue, let provider = factor["provider"]?.stringValue else { continue }
            note(\.factors, "\(type) \(provider)", by: edge)
        }
        status = next.name == "LOCKED_OUT" || next.token != nil ? next : nil
        return next
    }

    /// Checks that a request was rejected, and that the transaction is unchanged or, with `isOver`, has ended. Records the edge.
    func refused(
        _ edge: String?, _ response: WireResponse, _ code: String, status expected: Int = 403, causes: Int = 1, isOver: Bool = false,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try expectClassicRefusal(response, expected, code, causes: causes, sourceLocation: sourceLocation)
        if let edge { coverage.withLockedValue { _ = $0.edges.insert(edge) } }
        note(\.codes, code, by: "\(self.status?.name ?? "(none)") | \(lastOperation)")
        guard let token = status?.token, let known = status else { return }
        let state = try await post("", ["stateToken": .string(token)])
        if isOver {
            try expectClassicRefusal(state, 401, "E0000011", sourceLocation: sourceLocation)
            status = nil
            return
        }
        let after = try ClassicStatus(state, sourceLocation: sourceLocation)
        var (before, now) = (known.json, after.json)
        (before["expiresAt"], now["expiresAt"]) = (nil, nil)
        #expect(before == now, sourceLocation: sourceLocation)
        coverage.withLockedValue { _ = $0.edges.insert("any | get state | unchanged") }
    }

    /// Cancels the transaction, and checks that its state token is invalid.
    func cancel(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let token: [String: JSONValue] = ["stateToken": .string(try #require(status?.token))]
        let response = try await post("/cancel", token)
        #expect(response.status == 200, sourceLocation: sourceLocation)
        #expect(try response.json == [:], sourceLocation: sourceLocation)
        try expectClassicRefusal(try await post("", token), 401, "E0000011", sourceLocation: sourceLocation)
        coverage.withLockedValue { _ = $0.edges.insert("any | cancel | revoked") }
        note(\.operations, "/cancel", by: "any | cancel | revoked")
        note(\.codes, "E0000011", by: "\(status?.name ?? "") | cancel, then /")
        status = nil
    }

    /// Starts a sign-in of Jane with a password.
    func signIn(_ password: String = PushOrganization.janesPassword, warns: Bool = false, enrollsAll: Bool = false) async throws
        -> WireResponse
    {
        status = nil
        return try await post(
            "",
            [
                "username": .string(PushOrganization.jane), "password": .string(password),
                "options": ["warnBeforePasswordExpired": .bool(warns), "multiOptionalFactorEnroll": .bool(enrollsAll)],
            ])
    }
}
