import Foundation
import Testing

@testable import AuthnAPI
@testable import IdentityCore
@testable import Store

/// Makes random moves in the classic API, and compares every answer with the oracle's prediction.
final class ClassicExploration {
    private static let policy = ClassicPolicy(
        signOnPolicy: "two factors", showsLockout: true,
        factors: [.totp: .optional, .push: .notAllowed, .sms: .optional, .question: .optional], recovery: [.sms],
        unlocksBySelfService: true)
    private static let answer = "Swimming cup"

    private let seed: UInt64
    private let guesses: Bool
    private let desk: ClassicTestClient
    private var oracle: ClassicOracle
    private let random: SeededRandom
    private var password = TestOrganization.janesPassword
    private var passwords = 0
    private var token: String?
    private var shown: ClassicTransaction?
    private var ids: [ClassicMove.Kind: String] = [:]
    private var secret: [UInt8]?
    /// The moves and their results.
    private(set) var story: [String] = []
    private(set) var seen: Set<String> = []

    init(seed: UInt64) async throws {
        (self.seed, guesses) = (seed, seed % 4 == 3)
        random = SeededRandom(seed: seed &+ 1_000)
        desk = try await ClassicTestClient(Self.policy) {
            $0.passwordPolicy.lockoutAttempts = ClassicOracle.lockout
            $0.passwordPolicy.lockoutMinutes = nil
            $0.rateLimits = RateLimits(perClient: 1_000_000, perAddress: 1_000_000, perAddressSignIns: 1_000_000, perUser: 1_000_000)
        }
        let held: [Set<ClassicMove.Kind>] = [[], [.sms], [.sms, .question], [.question], [.totp], [.totp, .sms]]
        oracle = ClassicOracle(held: held[Int(seed) % held.count], enrollsAll: seed % 2 == 0)
        let id = try await desk.jane().id
        if oracle.held.contains(.sms) {
            let number = try #require(PhoneNumber("+49 30 5550123"))
            ids[.sms] = try await desk.engine.grantCodeFactor(.sms, to: CodeDestination(number), userID: id, context: desk.context)
        }
        if oracle.held.contains(.question) {
            ids[.question] = try await desk.engine.grantQuestion("first_award", answer: Self.answer, userID: id, context: desk.context)
        }
        if oracle.held.contains(.totp) {
            let offer = try await desk.engine.grantAuthenticatorApp(userID: id, context: desk.context)
            (ids[.totp], secret) = (offer?.id, offer.flatMap { Base32.decode($0.secret) })
        }
    }

    private var now: Int { Int(desk.now.timeIntervalSince1970) }

    private func chosen<Element>(_ elements: [Element]) -> Element {
        elements[random.bytes(4).reduce(0) { $0 << 8 | Int($1) } % elements.count]
    }

    /// Makes some moves.
    func walk(_ count: Int) async throws {
        for _ in 0..<count {
            let move = nextMove()
            // Sometimes the client waits until a second or two before the expiry of the sign-in.
            if oracle.place != .nowhere, chosen(Array(0..<25)) == 0 { desk.now += Double(max(0, oracle.expiresAt - now - chosen([1, 2]))) }
            if move.sends { try await pause() } else { desk.now += 1 }
            oracle.wait(until: now)
            let place = "\(oracle.place)"
            let expected = oracle.take(move, at: now)
            let answer = try await take(move)
            story.append("\(now): \(move) at \(place): \(answer)")
            seen.insert("\(move) at \(place): \(answer)")
            guard answer == expected else { throw broken("\(expected) was expected") }
            try await check()
        }
    }

    struct Broken: Error, CustomStringConvertible {
        let description: String
    }

    /// Returns a failure with the moves that led to it and the seed that repeats them.
    private func broken(_ problem: String) -> Broken {
        Broken(description: (["seed \(seed): \(problem)"] + story).joined(separator: "\n"))
    }

    /// Chooses a move that usually makes progress, and sometimes any other move.
    private func nextMove() -> ClassicMove {
        if chosen([true, true, true, false]) {
            let fitting: [ClassicMove] =
                switch oracle.place {
                case .nowhere where oracle.isLocked: [.recover(isUnlock: true), .recover(isUnlock: false), .signIn(isRight: true)]
                case .nowhere: [.signIn(isRight: true), .signIn(isRight: true), .signIn(isRight: false), .recover(isUnlock: false)]
                case .required, .challenge:
                    ClassicMove.Kind.allCases.flatMap { [.ask($0), .prove($0, isRight: true)] } + [.resend, .prove(.totp, isRight: false)]
                case .enroll: ClassicMove.Kind.allCases.map(ClassicMove.enroll) + [.skip]
                case .activate: [.activate(isRight: true), .activate(isRight: true), .activate(isRight: false), .resendActivation]
                case .recoveryChallenge: [.recoveryCode(isRight: true), .recoveryCode(isRight: true), .recoveryCode(isRight: false)]
                case .recovery: [.recoveryAnswer(isRight: true), .recoveryAnswer(isRight: false)]
                case .reset: [.resetPassword(isGood: true), .resetPassword(isGood: false)]
                }
            // Some walks consist mostly of wrong guesses, so that they lock the account.
            let wrong = fitting.filter(\.isWrong)
            return chosen(guesses && !wrong.isEmpty && chosen([true, true, false]) ? wrong : fitting)
        }
        return chosen(ClassicMove.all)
    }

    /// Waits until all codes have expired and all limits have reset. The client polls in between, so that the sign-in stays valid.
    private func pause() async throws {
        for _ in 0..<2 {
            desk.now += 155
            oracle.wait(until: now)
            try await check()
        }
    }

    /// Compares the state of the sign-in, of the user and of the user's factors with the oracle.
    private func check() async throws {
        let jane = try await desk.jane()
        let origin = RequestOrigin(
            desk.context, application: Application(id: "any", name: "any", kind: .native, signOnPolicy: "two factors"))
        guard jane.knows(origin) == oracle.isKnown else { throw broken("the origin is not as it should be") }
        guard (jane[jane.callers(from: origin)].lockedAt != nil) == oracle.isLocked else { throw broken("the lock is not as it should be") }
        let held = Set(
            try await desk.engine.store.read { view in
                try view.enrollments(of: jane.id).filter(\.isHeld).compactMap { ClassicMove.Kind(rawValue: $0.factor.rawValue) }
            })
        guard held == oracle.held else { throw broken("they have \(held)") }
        let answer = note(try await desk.engine.classicTransaction(stateToken: token ?? "none", context: desk.context))
        guard answer == oracle.status ?? "E0000011" else {
            throw broken("it stands at \(answer), not \(oracle.status ?? "nowhere")")
        }
        guard oracle.status != nil else { return }
        let end = Int(shown?.expiresAt?.timeIntervalSince1970 ?? 0)
        guard oracle.see(end: end, at: now) else { throw broken("it is good until \(end)") }
    }

    /// Reduces an answer to its status, and keeps the values that a client would keep.
    private func note(_ result: Result<ClassicAnswer, ClassicRefusal>) -> String {
        guard case .success(let answer) = result else { return result.refusal ?? "" }
        guard case .transaction(let transaction) = answer.outcome else { return "cancelled" }
        _ = try? desk.transaction(result)
        shown = transaction
        if let token = transaction.stateToken { self.token = token }
        for factor in transaction.factors ?? [] { remember(factor) }
        if let factor = transaction.factor { remember(factor) }
        if let text = transaction.factor?.activation?.secret { secret = Base32.decode(text) }
        // Only the end of a sign-in returns a session token. An unlock returns none.
        let isSignedIn = transaction.status == .success && transaction.recoveryType == nil
        if (transaction.sessionToken != nil) != isSignedIn { return "a session token too many or too few" }
        return transaction.status.rawValue
    }

    private func remember(_ factor: ClassicFactor) {
        let kind: ClassicMove.Kind? =
            switch factor.type {
            case "token:software:totp": .totp
            case "sms": .sms
            case "question": .question
            default: nil
            }
        if let kind, let id = factor.id { ids[kind] = id }
    }

    private func code(_ kind: ClassicMove.Kind, isRight: Bool) -> String {
        guard kind == .totp else { return isRight ? desk.code : desk.wrongCode }
        let secret = secret ?? []
        let step = TimeBasedCode.step(at: desk.now)
        if isRight { return TimeBasedCode.code(secret: secret, step: step) }
        let near = Set((-15...15).map { TimeBasedCode.code(secret: secret, step: step + $0) })
        return (100_000...).lazy.map(String.init).first { !near.contains($0) } ?? ""
    }

    private func take(_ move: ClassicMove) async throws -> String {
        let (engine, context, token) = (desk.engine, desk.context, token ?? "none")
        switch move {
        case .signIn(let isRight):
            self.token = nil
            var request = ClassicRequest(username: TestOrganization.jane, password: isRight ? password : "wrong")
            request.enrollsOptional = oracle.enrollsAll
            return note(try await engine.classicSignIn(request, caller: ClassicCaller(), context: context))
        case .look: return note(try await engine.classicTransaction(stateToken: token, context: context))
        case .ask(let kind): return note(try await desk.verify(ids[kind] ?? "none", ClassicProof(), token))
        case .prove(let kind, let isRight):
            let proof =
                kind == .question
                ? ClassicProof(answer: isRight ? Self.answer : "Chess cup") : ClassicProof(passCode: code(kind, isRight: isRight))
            return note(try await desk.verify(ids[kind] ?? "none", proof, token))
        case .resend:
            return note(try await engine.classicResend(factorID: ids[.sms] ?? "none", stateToken: token, context: context))
        case .enroll(let kind):
            let wire: (ClassicMove.Kind) -> (String, String) = { $0 == .totp ? ("token:software:totp", "GOOGLE") : ($0.rawValue, "OKTA") }
            var request = ClassicEnrollmentRequest(type: wire(kind).0, provider: wire(kind).1)
            request.phoneNumber = "+49 30 5550123"
            (request.question, request.answer) = ("first_award", Self.answer)
            return note(try await engine.classicEnroll(request, stateToken: token, context: context))
        case .activate(let isRight):
            let kind: ClassicMove.Kind = oracleKind ?? .totp
            return note(
                try await engine.classicActivate(
                    factorID: shown?.factor?.id ?? "none", passCode: code(kind, isRight: isRight), stateToken: token, context: context))
        case .resendActivation:
            return note(
                try await engine.classicResendActivation(factorID: shown?.factor?.id ?? "none", stateToken: token, context: context))
        case .previous: return note(try await engine.classicPrevious(stateToken: token, context: context))
        case .skip: return note(try await engine.classicSkip(stateToken: token, context: context))
        case .cancel: return note(try await engine.classicCancel(stateToken: token, context: context))
        case .recover(let isUnlock):
            self.token = nil
            let request = ClassicRecoveryRequest(isUnlock: isUnlock, username: TestOrganization.jane, factorType: "sms")
            return note(try await engine.classicRecover(request, caller: ClassicCaller(), context: context))
        case .recoveryCode(let isRight):
            return note(
                try await engine.classicRecoveryVerify(passCode: code(.sms, isRight: isRight), stateToken: token, context: context))
        case .recoveryResend: return note(try await engine.classicRecoveryResend(stateToken: token, context: context))
        case .recoveryAnswer(let isRight):
            return note(
                try await engine.classicRecoveryAnswer(isRight ? Self.answer : "Chess cup", stateToken: token, context: context))
        case .resetPassword(let isGood):
            passwords += 1
            let new = isGood ? "Another-Horse-\(passwords)" : "horse"
            let answer = note(try await engine.classicResetPassword(to: new, stateToken: token, context: context))
            if isGood, !answer.hasPrefix("E0") { password = new }
            return answer
        }
    }

    /// The kind of the shown factor, if it has codes; otherwise `nil`.
    private var oracleKind: ClassicMove.Kind? {
        switch shown?.factor?.type {
        case "sms": .sms
        case "token:software:totp": .totp
        default: nil
        }
    }
}
