import Foundation
import Testing

@testable import AuthnAPI
@testable import IdentityCore

/// Calls the classic API in the engine, as its HTTP handlers do, for Jane. The clock is set by hand.
final class ClassicTestClient {
    let organization: TestOrganization
    var now = TestOrganization.start
    /// The sent messages, newest last.
    var messages: [OutgoingMessage] { engine.outbox.messages }
    private var requests = 0

    init(
        _ policy: ClassicPolicy, tokenService: (any TokenService)? = nil, _ change: (inout OrganizationDefinition) -> Void = { _ in }
    ) async throws {
        organization = try await TestOrganization(tokenService: tokenService) { definition in
            definition.classic = policy
            change(&definition)
        }
    }

    var engine: Engine { organization.engine }

    var context: RequestContext {
        requests += 1
        return RequestContext(now: now, requestID: "request \(requests)", address: "127.0.0.1")
    }

    func jane() async throws -> User { try #require(try await engine.user(login: TestOrganization.jane)) }

    /// Returns the transaction of an answer.
    func transaction(
        _ result: Result<ClassicAnswer, ClassicRefusal>, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> ClassicTransaction {
        switch result {
        case .failure(let refusal):
            Issue.record("\(refusal)", sourceLocation: sourceLocation)
            throw refusal
        case .success(let answer):
            guard case .transaction(let transaction) = answer.outcome else { throw ClassicRefusal.malformed("cancelled") }
            return transaction
        }
    }

    func signIn(_ password: String = TestOrganization.janesPassword) async throws -> ClassicTransaction {
        try transaction(
            try await engine.classicSignIn(
                ClassicRequest(username: TestOrganization.jane, password: password), caller: ClassicCaller(), context: context))
    }

    func verify(_ id: String, _ proof: ClassicProof = ClassicProof(), _ token: String?) async throws -> Result<
        ClassicAnswer, ClassicRefusal
    > {
        try await engine.classicVerify(factorID: id, proof, stateToken: token ?? "", context: context)
    }

    /// The code of the newest message; empty without one.
    var code: String { messages.last?.code ?? "" }

    /// Six digits that differ from the newest code.
    var wrongCode: String { code == "000000" ? "000001" : "000000" }
}

extension Result where Success == ClassicAnswer, Failure == ClassicRefusal {
    /// The error code of a refusal; `nil` for an answer.
    var refusal: String? { failure?.code }
    /// The refusal; `nil` for an answer.
    var failure: ClassicRefusal? { if case .failure(let refusal) = self { refusal } else { nil } }
}
