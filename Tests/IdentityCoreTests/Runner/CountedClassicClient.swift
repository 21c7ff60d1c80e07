import Foundation
import Store
import TestSupport
import Testing

@testable import AuthnAPI
@testable import IdentityCore

/// A client of the classic API whose requests are counted. It keeps the state token and the ids of the factors.
final class CountedClassicClient {
    let app: AppFixture
    /// The name of the sign-on policy. A change takes effect with ``apply(_:)``.
    var policy = "two factors"
    var seconds: TimeInterval = 60
    private(set) var token = ""
    /// The ids of the user's factors by type.
    private(set) var factors: [String: String] = [:]
    /// The id of the factor that is being enrolled; empty if there is none.
    private(set) var enrolling = ""
    var messages: [OutgoingMessage] { engine.outbox.messages }

    var engine: Engine { app.engine }
    var context: RequestContext { PushFixture.context(seconds) }
    var code: String { messages.last?.code ?? "" }

    /// Enrolls an app, a telephone and a question for Jane.
    init(_ store: any Store) async throws {
        app = try await AppFixture(store: store) { Self.prepare(&$0, policy: "two factors") }
        let (id, context) = (try await app.organization.userID(), PushFixture.context(1))
        let number = try #require(PhoneNumber("+49 30 5550123"))
        _ = try await app.engine.grantCodeFactor(.sms, to: CodeDestination(number), userID: id, context: context)
        _ = try await app.engine.grantQuestion("first_award", answer: "Swimming cup", userID: id, context: context)
    }

    private static func prepare(_ definition: inout OrganizationDefinition, policy: String) {
        definition.classic = ClassicPolicy(
            signOnPolicy: policy,
            factors: [.totp: .optional, .push: .optional, .sms: .optional, .question: .optional], recovery: [.sms, .email],
            unlocksBySelfService: true)
        PageVisitor.allowPhones(&definition)
        definition.users += [
            UserDefinition(login: "plain@example.com", password: "Battery-Staple-9"),
            UserDefinition(login: "new@example.com", status: .staged),
        ]
        definition.rateLimits = RateLimits(perClient: 1_000_000, perAddress: 1_000_000, perAddressSignIns: 1_000_000, perUser: 1_000_000)
    }

    /// Changes the configuration.
    func apply(_ change: (inout OrganizationDefinition) -> Void = { _ in }) async throws {
        try await app.organization.reapply {
            Self.prepare(&$0, policy: policy)
            change(&$0)
        }
    }

    // MARK: - Requests

    func signIn(
        _ login: String = PushFixture.jane, password: String? = nil, enrollsOptional: Bool = false
    ) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        let password = password ?? PushFixture.passwords[login] ?? "Battery-Staple-9"
        return try await engine.classicSignIn(
            ClassicRequest(username: login, password: password, enrollsOptional: enrollsOptional), caller: ClassicCaller(),
            context: context)
    }

    func state() async throws -> Result<ClassicAnswer, ClassicRefusal> {
        try await engine.classicTransaction(stateToken: token, context: context)
    }

    func verify(_ factor: String, _ proof: ClassicProof) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        try await engine.classicVerify(factorID: factors[factor] ?? "", proof, stateToken: token, context: context)
    }

    func enroll(_ type: String, _ provider: String) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        var request = ClassicEnrollmentRequest(type: type, provider: provider)
        request.phoneNumber = "+49 30 5550124"
        return try await engine.classicEnroll(request, stateToken: token, context: context)
    }

    func activate(_ code: String) async throws -> Result<ClassicAnswer, ClassicRefusal> {
        try await engine.classicActivate(factorID: enrolling, passCode: code, stateToken: token, context: context)
    }

    /// Returns the sign-in in an answer, and keeps its state token and its factors.
    func shown(_ result: Result<ClassicAnswer, ClassicRefusal>) throws -> ClassicTransaction {
        let answer = try result.get()
        guard case .transaction(let transaction) = answer.outcome else { throw NoSuchThing("sign-in") }
        token = transaction.stateToken ?? token
        for factor in transaction.factors ?? [] {
            let name = factor.type == "token:software:totp" ? "totp" : factor.type
            if let id = factor.id { factors[name] = id }
        }
        enrolling = transaction.factor?.id ?? enrolling
        return transaction
    }
}
