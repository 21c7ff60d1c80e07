import Foundation
import TestSupport
import Testing

@testable import AuthnAPI
@testable import DeviceAPI
@testable import IdentityCore
@testable import SignInPages
@testable import Store

/// Tests that the work of an endpoint does not reveal whether a user name is known.
///
/// The tests compare counts, never times: store reads, queries, commits and writes, decoded and encoded records, HMACs, opened secrets and
/// password hashes.
@Suite("The work for known and unknown user names")
struct UniformWorkTests {
    /// The numbers of operations, by their names.
    typealias Work = [String: Int]

    private let store: MeteredStore
    private let org: PushFixture

    /// Users with every relevant combination of factors, and users who cannot sign in.
    private static let people = ["plain", "app", "phone", "phone-and-app", "text", "suspended", "staged", "locked"]
    /// A device secret with the length of the real ones.
    static let browser = String(repeating: "b", count: 43)
    private static let unknown = (0..<200).map { "stranger\($0)@example.com" }

    init() async throws {
        store = MeteredStore()
        org = try await PushFixture(store: store) { definition in
            for index in definition.applications.indices where definition.applications[index].id != "no-push-app" {
                definition.applications[index].grantTypes += [AppFixture.firstFactor, AppFixture.secondFactor]
            }
            definition.passwordPolicy.scryptLogN = 10
            definition.rateLimits = RateLimits(
                perClient: 1_000_000, perAddress: 1_000_000, perAddressSignIns: 1_000_000, perUser: 1_000_000)
            definition.classic = ClassicPolicy(
                signOnPolicy: "one factor", recovery: [.sms, .voice, .email], unlocksBySelfService: true)
            for person in Self.people {
                definition.users.append(
                    UserDefinition(
                        login: Self.login(person), password: person == "staged" ? nil : "Battery-Staple-9",
                        status: person == "suspended" ? .suspended : person == "staged" ? .staged : .active))
            }
        }
        for person in ["phone", "phone-and-app"] { try await enroll(Self.login(person)) }
        for person in ["app", "phone-and-app"] {
            _ = try await org.engine.grantAuthenticatorApp(
                userID: org.userID(Self.login(person)), context: PushFixture.context(6))
        }
        let number = try #require(PhoneNumber("+49 30 5550123"))
        _ = try await org.engine.grantCodeFactor(
            .sms, to: CodeDestination(number), userID: org.userID(Self.login("text")), context: PushFixture.context(6))
        for _ in 0..<10 { try await Door.password.send(Self.login("locked"), to: org) }
        // The first failure of an unknown name inserts a record, and later failures replace the record.
        for name in Self.unknown { try await Door.password.send(name, to: org) }
    }

    private static func login(_ person: String) -> String { "\(person)@example.com" }

    /// Enrolls a phone for a user who has no factor but the password.
    private func enroll(_ login: String) async throws {
        var phone = try Phone(userID: try await org.userID(login))
        let token = try await org.signIn(
            login, scope: DeviceFixture.manage, client: "phone-app", server: nil, at: 5, ["password": "Battery-Staple-9"]
        ).get().accessToken
        let enrolled = try await org.engine.enrollDevice(
            phone.enrollment(userVerification: false), authorization: .bearer(token), context: PushFixture.context(5))
        try phone.remember(enrolled.get())
    }

    /// An endpoint that accepts a user name from a caller without any proof.
    enum Door: String, CaseIterable, CustomTestStringConvertible {
        case password, code, push, text, classic, page

        var testDescription: String { rawValue }

        /// Sends a request that fails for every name.
        func send(_ login: String, to org: PushFixture, at seconds: TimeInterval = 60) async throws {
            switch self {
            case .password:
                let answer = try await org.signIn(login, client: "one-factor-app", at: seconds, ["password": "wrong"])
                #expect(answer.refused == .invalidGrant)
            case .code:
                let parameters = ["grant_type": AppFixture.firstFactor, "login_hint": login, "otp": "12345", "scope": "openid"]
                #expect(try await org.token(parameters, client: "one-factor-app", at: seconds).refused == .invalidGrant)
            case .push: #expect(try await org.primary(login, client: "closed-app", at: seconds).refused == .accessDenied)
            case .text:
                #expect(try await org.primary(login, client: "closed-app", at: seconds, ["channel_hint": "sms"]).refused == .accessDenied)
            case .classic:
                let answer = try await org.engine.classicSignIn(
                    ClassicRequest(username: login, password: "wrong"), caller: ClassicCaller(), context: PushFixture.context(seconds))
                #expect(answer.refusal == "E0000004")
            case .page:
                let (transaction, token) = try await Self.beginPage(org, at: seconds)
                let answer = try await org.engine.signInStep(
                    .password(login: login, password: "wrong"), of: token,
                    formToken: FormToken.make(browser: UniformWorkTests.browser, transaction: transaction.id),
                    browser: BrowserSecrets(browser: UniformWorkTests.browser), context: PushFixture.context(seconds))
                guard case .redirect = answer.outcome else { throw NoSuchThing("page") }
            }
        }

        private static func beginPage(_ org: PushFixture, at seconds: TimeInterval) async throws -> (SignInTransaction, String) {
            let now = TestOrganization.time(seconds)
            let application = try #require(try await org.engine.snapshot().application("one-factor-app"))
            let transaction = try SignInTransaction(
                SignInRequest(onPagesOf: application, server: "default", scopes: ["openid"], contextClasses: []),
                answering: AuthorizationRequest(
                    clientID: application.id, redirectURI: "com.example:/", responseMode: .query, scopes: ["openid"], state: "s"),
                hosted: HostedSignIn(browser: BrowserBinding(UniformWorkTests.browser), login: ""),
                random: org.engine.environment.random, now: now)
            let token = try org.engine.environment.random.secret()
            let changes: [Change] = [.put(try transaction.record()), .issue(transaction.stateTicket(token))]
            #expect(try await org.store.commit(changes) == .committed)
            return (transaction, token)
        }
    }

    private func work(_ body: () async throws -> Void) async throws -> Work {
        let meter = OperationMeter()
        _ = store.take()
        try await OperationMeter.$current.withValue(meter) { try await body() }
        return meter.take().reduce(into: store.take()) { $0[$1.key.rawValue] = $1.value }
    }

    @Test(
        "The server does the same work for a wrong password for every user name, known or unknown",
        arguments: [Door.password, .classic, .page])
    func passwords(door: Door) async throws {
        var works: [Work: [String]] = [:]
        for name in Self.people.map(Self.login) + Self.unknown.prefix(40) {
            works[try await work { try await door.send(name, to: org) }, default: []].append(name)
        }
        #expect(works.count == 1, "\(works)")
        #expect((works.keys.first?["passwordHash"] ?? 0) == 1 << 10)
        #expect(works.keys.first?["put account"] == 1)
    }

    @Test("The correct password of a locked or suspended account causes the same work as a wrong password")
    func rightPasswords() async throws {
        for person in ["locked", "suspended"] {
            let login = Self.login(person)
            let wrong = try await work { _ = try await org.signIn(login, at: 60, ["password": "wrong"]) }
            let right = try await work {
                let answer = try await org.signIn(login, at: 60, ["password": "Battery-Staple-9"])
                #expect(answer.refused == .invalidGrant)
            }
            #expect(right == wrong, "\(person)")
        }
    }

    @Test(
        "For every known user, a wrong code or a rejected push request causes the same work as for several unknown user names",
        arguments: [Door.code, .push, .text])
    func factors(door: Door) async throws {
        var works: [Work: Int] = [:]
        for name in Self.unknown { works[try await work { try await door.send(name, to: org) }, default: 0] += 1 }
        for person in Self.people {
            let own = try await work { try await door.send(Self.login(person), to: org) }
            // Several unknown names cause the same work, so the work does not identify a known name.
            #expect(works[own, default: 0] >= Self.unknown.count / 30, "\(person): \(own)\n\(works)")
        }
        if door == .code { #expect(works.keys.allSatisfy { ($0["hmac"] ?? 0) >= 4 && ($0["open"] ?? 0) >= 1 }) }
    }

    @Test("Repeated requests with the same unknown user name cause the same work", arguments: Door.allCases)
    func stable(door: Door) async throws {
        for name in Self.unknown.prefix(5) {
            let works = [
                try await work { try await door.send(name, to: org) }, try await work { try await door.send(name, to: org, at: 70) },
            ]
            #expect(works[0] == works[1])
        }
    }

    @Test("A push request for a user without a device causes the same work as for several unknown user names")
    func withoutDevice() async throws {
        var works: [Work: Int] = [:]
        for name in Self.unknown {
            let own = try await work {
                let answer = try await org.primary(name, at: 60)
                #expect(answer.refused == .accessDenied)
            }
            works[own, default: 0] += 1
        }
        for person in ["plain", "app", "text", "suspended", "staged"] {
            let own = try await work {
                let answer = try await org.primary(Self.login(person), at: 60)
                #expect(answer.refused == .accessDenied)
            }
            #expect(works[own, default: 0] >= Self.unknown.count / 30, "\(person): \(own)\n\(works)")
        }
    }

    @Test("A recovery makes the same reads, commits, encryptions and writes for known and unknown user names", arguments: ["EMAIL", "SMS"])
    func recoveries(channel: String) async throws {
        var works: Set<Work> = []
        for name in ["plain", "text", "suspended", "staged"].map(Self.login) + Self.unknown.prefix(5) {
            let own = try await work {
                let request = ClassicRecoveryRequest(isUnlock: false, username: name, factorType: channel)
                _ = try await org.engine.classicRecover(
                    request, caller: ClassicCaller(), context: PushFixture.context(60)
                ).get()
            }
            // The remaining work decodes the user's factors. Unknown names have decoys of factors.
            let names: Set<String> = ["read", "commit", "hmac", "seal", "open", "encode"]
            works.insert(own.filter { names.contains($0.key) || $0.key.hasPrefix("put") || $0.key.hasPrefix("issue") })
        }
        #expect(org.outbox.messages.count >= 1)
        #expect(works.count == 1, "\(works)")
    }
}
