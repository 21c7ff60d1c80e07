import JOSE
import NIOConcurrencyHelpers
import Testing

/// The edges of the reference's table (authn reference 3.4), and those that were walked over the wire.
struct ClassicCoverage: Sendable {
    /// From, by, to: every row of the table, those of step-up, U2F and WebAuthn left out. "Continue" is spelled by where it led.
    static let edges: Set<String> = [
        "(none) | password | SUCCESS", "(none) | password | MFA_REQUIRED", "(none) | password | MFA_ENROLL",
        "(none) | password | PASSWORD_WARN", "(none) | password | PASSWORD_EXPIRED", "(none) | password | LOCKED_OUT",
        "(none) | activation token | PASSWORD_RESET", "(none) | activation token | SUCCESS",
        "(none) | recover by text or call | RECOVERY_CHALLENGE",
        "(none) | recover by mail | RECOVERY_CHALLENGE", "(none) | recover, trusted | RECOVERY", "(none) | recovery token | RECOVERY",
        "(none) | recovery token | PASSWORD_RESET", "PASSWORD_WARN | change password | SUCCESS", "PASSWORD_WARN | skip | SUCCESS",
        "PASSWORD_EXPIRED | change password | SUCCESS", "PASSWORD_EXPIRED | change password | MFA_ENROLL",
        "LOCKED_OUT | unlock | RECOVERY_CHALLENGE", "RECOVERY_CHALLENGE | verify | PASSWORD_RESET",
        "RECOVERY_CHALLENGE | verify | RECOVERY",
        "RECOVERY_CHALLENGE | verify | SUCCESS", "RECOVERY_CHALLENGE | resend | RECOVERY_CHALLENGE", "RECOVERY | answer | PASSWORD_RESET",
        "RECOVERY | answer | SUCCESS", "PASSWORD_RESET | reset password | SUCCESS", "PASSWORD_RESET | reset password | MFA_REQUIRED",
        "MFA_ENROLL | enroll question | MFA_ENROLL", "MFA_ENROLL | enroll question | SUCCESS",
        "MFA_ENROLL | enroll totp | MFA_ENROLL_ACTIVATE", "MFA_ENROLL | enroll code | MFA_ENROLL_ACTIVATE",
        "MFA_ENROLL | enroll push | MFA_ENROLL_ACTIVATE", "MFA_ENROLL | skip | SUCCESS", "MFA_ENROLL_ACTIVATE | activate | SUCCESS",
        "MFA_ENROLL_ACTIVATE | activate | MFA_ENROLL", "MFA_ENROLL_ACTIVATE | poll | MFA_ENROLL_ACTIVATE",
        "MFA_ENROLL_ACTIVATE | poll | SUCCESS", "MFA_ENROLL_ACTIVATE | poll | MFA_ENROLL",
        "MFA_ENROLL_ACTIVATE | activate | MFA_ENROLL_ACTIVATE", "MFA_ENROLL_ACTIVATE | send link | MFA_ENROLL_ACTIVATE",
        "MFA_ENROLL_ACTIVATE | resend | MFA_ENROLL_ACTIVATE", "MFA_ENROLL_ACTIVATE | previous | MFA_ENROLL",
        "MFA_REQUIRED | verify without proof | MFA_CHALLENGE", "MFA_REQUIRED | verify with proof | SUCCESS",
        "MFA_REQUIRED | verify with proof | PASSWORD_EXPIRED", "MFA_CHALLENGE | verify with proof | SUCCESS",
        "MFA_CHALLENGE | poll | MFA_CHALLENGE", "MFA_CHALLENGE | poll | SUCCESS", "MFA_CHALLENGE | resend | MFA_CHALLENGE",
        "MFA_CHALLENGE | another factor | MFA_CHALLENGE", "MFA_CHALLENGE | another factor | SUCCESS",
        "MFA_CHALLENGE | previous | MFA_REQUIRED", "any | get state | unchanged", "any | cancel | revoked",
        "any | not listed | E0000079, unchanged", "any | failed proof | refused, unchanged", "any | too many failed proofs | E0000069",
    ]

    var edges: Set<String> = []
    var operations: Set<String> = []
    var factors: Set<String> = []
    var codes: Set<String> = []

    /// For a person to read.
    var text: String {
        func list(_ title: String, _ items: Set<String>) -> String { title + "\n" + items.sorted().map { "  \($0)\n" }.joined() }
        return list("Edges", edges) + list("Edges that nothing walks", Self.edges.subtracting(edges)) + list("Operations", operations)
            + list("Factor types", factors) + list("Error codes", codes)
    }
}

/// A client that walks, and notes where it went.
final class ClassicWalk {
    let client: ClassicClient
    private let coverage: NIOLockedValueBox<ClassicCoverage>
    private(set) var status: ClassicStatus?

    init(_ client: ClassicClient, _ coverage: NIOLockedValueBox<ClassicCoverage>) { (self.client, self.coverage) = (client, coverage) }

    /// Posts to a path, with the state token unless there is none.
    func post(_ path: String, _ body: [String: JSONValue] = [:], query: String = "") async throws -> WireResponse {
        var body = body
        if body["stateToken"] == nil, let token = status?.token { body["stateToken"] = .string(token) }
        let template = path.split(separator: "/").map { $0.utf8.count == 20 ? "{id}" : String($0) }.joined(separator: "/")
        coverage.withLockedValue { _ = $0.operations.insert("/" + template) }
        return try await client.post(path + query, .object(body))
    }

    /// Posts to where a link leads.
    func follow(_ link: JSONValue?, _ body: [String: JSONValue] = [:], query: String = "") async throws -> WireResponse {
        let href = try #require(link?["href"]?.stringValue)
        return try await post(String(href.dropFirst(ClassicClient.base.count)), body, query: query)
    }

    /// Takes an edge: the answer must be the transaction that the table says.
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
        let from = status?.name ?? "(none)"
        coverage.withLockedValue { coverage in
            coverage.edges.insert("\(from) | \(operation) | \(to)")
            for factor in next.factors + [next.embedded["factor"] ?? .null] {
                if let type = factor["factorType"]?.stringValue { coverage.factors.insert(type) }
            }
        }
        status = next.name == "LOCKED_OUT" || next.token != nil ? next : nil
        return next
    }

    /// Takes an edge that leads nowhere: refused, and where it stands is as before.
    func refused(
        _ edge: String?, _ response: WireResponse, _ code: String, status expected: Int = 403, causes: Int = 1, isOver: Bool = false,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try expectClassicRefusal(response, expected, code, causes: causes, sourceLocation: sourceLocation)
        coverage.withLockedValue { coverage in
            if let edge { coverage.edges.insert(edge) }
            coverage.codes.insert(code)
        }
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

    /// Gives up.
    func cancel(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let token: [String: JSONValue] = ["stateToken": .string(try #require(status?.token))]
        let response = try await post("/cancel", token)
        #expect(response.status == 200, sourceLocation: sourceLocation)
        #expect(try response.json == [:], sourceLocation: sourceLocation)
        try expectClassicRefusal(try await post("", token), 401, "E0000011", sourceLocation: sourceLocation)
        coverage.withLockedValue { coverage in
            coverage.edges.insert("any | cancel | revoked")
            coverage.codes.insert("E0000011")
        }
        status = nil
    }

    /// Posts the name and the password.
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
