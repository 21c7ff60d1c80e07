import Foundation
import IdentityCore
import JOSE
import TestSupport
import Testing

/// Attackers who guess passwords and codes over days, and attackers who try to lock the owner out.
@Suite("Attacks: guessing")
struct GuessingAttacks {
    private static let attacker = "203.0.113.66"
    private static let home = "198.51.100.7"
    private static let hotel = "192.0.2.44"

    /// A server where Jane has an authenticator app. The attacker knows her user name.
    private struct Target: Sendable {
        let server: PushServer
        let app: ClassicApp
        /// A client whose policy requires one factor.
        let easy: DirectClient
        /// A client whose policy requires two factors.
        let strict: DirectClient

        init(_ server: PushServer) async throws {
            self.server = server
            app = try await ClassicClient(server).app()
            easy = DirectClient(server, id: "easy-app")
            strict = DirectClient(server)
        }

        func first(_ code: String, from address: String) async throws -> WireResponse {
            try await easy.at(address).post(
                "token", ["grant_type": PushOrganization.otp, "login_hint": PushOrganization.jane, "otp": code, "scope": "openid"])
        }

        func second(_ code: String, _ token: String, from address: String) async throws -> WireResponse {
            try await strict.at(address).post(
                "token", ["grant_type": PushOrganization.secondFactorOTP, "mfa_token": token, "otp": code])
        }

        func password(_ password: String = PushOrganization.janesPassword, from address: String) async throws -> WireResponse {
            try await easy.at(address).password(["password": password])
        }

        /// Waits until every temporary lock has expired and the app shows a new code.
        func waitForLocks() { server.clock.advance(by: 900) }
    }

    private static func attack(
        _ change: (inout PushOrganization) -> Void = { _ in }, _ body: @Sendable (Target) async throws -> Void
    ) async throws {
        var organization = PushOrganization(classic: ClassicPolicy(signOnPolicy: "one factor"))
        organization.trustsForwardedAddresses = true
        change(&organization)
        try await PushServer.with(organization) { try await body(Target($0)) }
    }

    @Test("After 100 wrong codes in a row, an authenticator app's correct code is rejected as a first factor, even 90 days later")
    func codesAsFirstFactor() async throws {
        try await Self.attack { target in
            for _ in 0..<100 {
                try expectRefusal(try await target.first(target.app.wrongCode, from: Self.attacker), 400, "invalid_grant")
                target.waitForLocks()
            }
            for _ in 0..<3 {
                target.server.clock.advance(by: 30 * 86_400)
                try expectRefusal(try await target.first(target.app.code(), from: Self.attacker), 400, "invalid_grant")
            }
            // The owner who knows the password still signs in with the app.
            let token = try await target.strict.at(Self.home).mfaToken()
            #expect(try await target.second(target.app.code(), token, from: Self.home).status == 200)
        }
    }

    @Test("100 wrong codes after a correct password lock the authenticator app until an administrator unlocks the account")
    func codesAfterPassword() async throws {
        try await Self.attack { target in
            for round in 0..<100 {
                let token = try await target.strict.at(Self.attacker).mfaToken()
                let answer = try await target.second(target.app.wrongCode, token, from: Self.attacker)
                try expectRefusal(answer, 400, "invalid_grant")
                if round < 99 { target.waitForLocks() }
            }
            target.server.clock.advance(by: 365 * 86_400)
            var token = try await target.strict.at(Self.attacker).mfaToken()
            try expectRefusal(try await target.second(target.app.code(), token, from: Self.attacker), 400, "invalid_grant")
            let id = try #require(try await target.server.engine.user(login: PushOrganization.jane)?.id)
            let context = RequestContext(now: target.server.clock.now, requestID: "unlock")
            _ = try await target.server.engine.unlock(userID: id, context: context)
            target.server.clock.advance(by: 30)
            token = try await target.strict.at(Self.attacker).mfaToken()
            #expect(try await target.second(target.app.code(), token, from: Self.attacker).status == 200)
        }
    }

    @Test("A sign-in with another second factor unlocks an authenticator app that 100 wrong codes locked")
    func anotherFactorOpens() async throws {
        try await Self.attack { target in
            try await target.server.give(.sms, "+49 30 5550123")
            for _ in 0..<100 {
                let token = try await target.strict.at(Self.attacker).mfaToken()
                try expectRefusal(try await target.second(target.app.wrongCode, token, from: Self.attacker), 400, "invalid_grant")
                target.waitForLocks()
            }
            var token = try await target.strict.at(Self.attacker).mfaToken()
            try expectRefusal(try await target.second(target.app.code(), token, from: Self.attacker), 400, "invalid_grant")
            token = try await target.strict.at(Self.attacker).mfaToken()
            let sent = try await target.strict.at(Self.attacker).challenge(token, ["channel_hint": "sms"])
            let answer: [String: String] = [
                "grant_type": PushOrganization.secondFactorOOB, "mfa_token": token,
                "oob_code": try #require(try sent.json["oob_code"]?.stringValue), "binding_code": try await target.server.messages.code(),
            ]
            #expect(try await target.strict.at(Self.attacker).post("token", answer).status == 200)
            target.server.clock.advance(by: 30)
            token = try await target.strict.at(Self.attacker).mfaToken()
            #expect(try await target.second(target.app.code(), token, from: Self.attacker).status == 200)
        }
    }

    @Test("An attacker who knows the password gets no new code attempts by signing in to a one-factor app from other addresses")
    func movingWithPassword() async throws {
        try await Self.attack { target in
            var wrong = 0
            for number in 0..<50 {
                let address = "203.0.113.\(number)"
                // A successful sign-in makes the address known.
                #expect(try await target.password(from: address).status == 200)
                for _ in 0..<4 {
                    let token = try await target.strict.at(address).mfaToken()
                    try expectRefusal(try await target.second(target.app.wrongCode, token, from: address), 400, "invalid_grant")
                    try expectRefusal(try await target.first(target.app.wrongCode, from: address), 400, "invalid_grant")
                    wrong += 1
                    target.waitForLocks()
                }
            }
            #expect(wrong == 200)
            for address in ["203.0.113.250", "203.0.113.49"] {
                #expect(try await target.password(from: address).status == 200)
                let token = try await target.strict.at(address).mfaToken()
                try expectRefusal(try await target.second(target.app.code(), token, from: address), 400, "invalid_grant")
                try expectRefusal(try await target.first(target.app.code(), from: address), 400, "invalid_grant")
            }
        }
    }

    @Test("From the fifth wrong password on, each wrong password locks the account for longer: 30 seconds, then 1, 2, 5 and 15 minutes")
    func growingLocks() async throws {
        try await Self.attack { target in
            for _ in 0..<4 { _ = try await target.password("wrong", from: Self.attacker) }
            for seconds: TimeInterval in [30, 60, 120, 300, 900, 900] {
                _ = try await target.password("wrong", from: Self.attacker)
                target.server.clock.advance(by: seconds - 1)
                // During the lock, no password is checked, correct or wrong.
                try expectRefusal(try await target.password(from: Self.attacker), 400, "invalid_grant")
                _ = try await target.password("wrong", from: Self.attacker)
                target.server.clock.advance(by: 1)
            }
            #expect(try await target.password(from: Self.attacker).status == 200)
        }
    }

    @Test("An account lock caused by attempts from other addresses does not apply at an address that the owner has signed in from")
    func strangersLockNobodyOut() async throws {
        try await Self.attack { target in
            #expect(try await target.password(from: Self.home).status == 200)
            for _ in 0..<40 { _ = try await target.password("wrong", from: Self.attacker) }
            for _ in 0..<40 { _ = try await target.first(target.app.wrongCode, from: Self.attacker) }
            try expectRefusal(try await target.password(from: Self.attacker), 400, "invalid_grant")
            try expectRefusal(try await target.password(from: Self.hotel), 400, "invalid_grant")
            // The lock also does not apply to the owner's sign-in with two factors.
            #expect(try await target.password(from: Self.home).status == 200)
            let token = try await target.strict.at(Self.home).mfaToken()
            #expect(try await target.second(target.app.code(), token, from: Self.home).status == 200)
        }
    }

    @Test("Sign-in attempts from other devices do not count against the limit of a device that the user has signed in with", .onOneServer)
    func attemptsForTheName() async throws {
        try await Self.attack {
            $0.rateLimits.perUser = 10
        } _: { target in
            let app = DirectClient(target.server, id: "mute-desk", additional: ["client_secret": "mute-desk-secret-0123"]).at(Self.home)
            let own = app.with(device: "a-device-of-jane")
            #expect(try await own.password().status == 200)
            for _ in 0..<30 { _ = try await target.password("wrong", from: Self.attacker) }
            #expect(try await target.password(from: Self.attacker).status == 429)
            #expect(try await app.with(device: "another-device").password().status == 429)
            for _ in 0..<10 { #expect(try await own.password().status == 200) }
            // The owner's own attempts have a limit too, so an attacker with the device gets no more attempts.
            #expect(try await own.password(["password": "wrong"]).status == 429)
        }
    }

    @Test(
        "After the attempts for a user name are exhausted, responses do not reveal which networks the user has signed in from", .onOneServer
    )
    func networksOfTheName() async throws {
        try await Self.attack {
            $0.rateLimits.perUser = 10
        } _: { target in
            #expect(try await target.password(from: Self.home).status == 200)
            for _ in 0..<10 { _ = try await target.password("wrong", from: Self.attacker) }
            for address in [Self.home, Self.hotel] {
                let unknown = try await target.easy.at(address).password(["username": "unknown@example.com", "password": "wrong"])
                #expect(unknown.status == 400)
                #expect(try await target.password("wrong", from: address).status == 429, "\(address)")
                #expect(try await target.first(target.app.wrongCode, from: address).status == 429, "\(address)")
                let page = ClassicClient(target.server, headers: [("X-Forwarded-For", address)])
                try expectClassicRefusal(try await page.signIn(PushOrganization.jane, "wrong"), 429, "E0000047")
                #expect(try await target.easy.at(address).primary().status == 429, "\(address)")
            }
        }
    }

    @Test("An account lock does not apply to IPv6 addresses in a /64 that the owner has signed in from, but applies in another /64")
    func networks() async throws {
        try await Self.attack { target in
            #expect(try await target.password(from: "2001:db8:1:2::10").status == 200)
            for _ in 0..<10 { _ = try await target.password("wrong", from: Self.attacker) }
            #expect(try await target.password(from: "2001:db8:1:2:ffff::99").status == 200)
            try expectRefusal(try await target.password(from: "2001:db8:1:3::10"), 400, "invalid_grant")
        }
    }

    @Test("Wrong passwords from an address that the owner has used lock that address, and not the owner's other addresses")
    func sharedAddress() async throws {
        try await Self.attack { target in
            #expect(try await target.password(from: Self.home).status == 200)
            #expect(try await target.password(from: Self.hotel).status == 200)
            for _ in 0..<5 { _ = try await target.password("wrong", from: Self.home) }
            try expectRefusal(try await target.password(from: Self.home), 400, "invalid_grant")
            #expect(try await target.password(from: Self.hotel).status == 200)
            // A successful sign-in from another origin does not shorten the lock.
            try expectRefusal(try await target.password(from: Self.home), 400, "invalid_grant")
            target.server.clock.advance(by: 30)
            #expect(try await target.password(from: Self.home).status == 200)
        }
    }

    @Test("Wrong passwords from the owner's address do not lock a device that the owner has signed in with")
    func sharedAddressWithDevice() async throws {
        try await Self.attack { target in
            let own = ClassicClient(
                target.server, headers: [("X-Forwarded-For", Self.home), ("Cookie", "DT=9f2c7b1e4d6a4f0b8c3d5e7f90123456")])
            #expect(try await own.begin().name == "SUCCESS")
            for _ in 0..<40 { _ = try await target.password("wrong", from: Self.home) }
            try expectRefusal(try await target.password(from: Self.home), 400, "invalid_grant")
            #expect(try await own.begin().name == "SUCCESS")
            let travelling = ClassicClient(
                target.server, headers: [("X-Forwarded-For", Self.hotel), ("Cookie", "DT=9f2c7b1e4d6a4f0b8c3d5e7f90123456")])
            #expect(try await travelling.begin().name == "SUCCESS")
        }
    }

    @Test("On the hosted pages, the owner can sign in with a known browser from a new network while the account is locked")
    func browserOnPages() async throws {
        try await Self.attack { target in
            let app = WireRelyingParty.readingApp
            let own = WireBrowser(target.server.wire)
            own.headers = [("X-Forwarded-For", Self.home)]
            _ = try app.code(try await own.signIn(try await app.begin(own)))
            let device = try #require(own.cookies["device"])
            for _ in 0..<10 { _ = try await target.password("wrong", from: Self.attacker) }
            // The browser was closed, and only the persistent cookie remains.
            own.cookies = ["device": device]
            own.headers = [("X-Forwarded-For", Self.hotel)]
            _ = try app.code(try await own.signIn(try await app.begin(own)))
            #expect(own.cookies["device"] == device)
            let other = WireBrowser(target.server.wire)
            other.headers = [("X-Forwarded-For", "192.0.2.45")]
            let refused = try await other.signIn(try await app.begin(other))
            #expect(refused.status == 200 && refused.body.contains("The user name or the password is wrong."))
        }
    }

    @Test("A device cookie that an attacker planted in the owner's browser does not make the attacker's device known")
    func plantedDevice() async throws {
        try await Self.attack { target in
            let app = WireRelyingParty.readingApp
            let planted = "device-secret-that-an-attacker-made-0123456789"
            let own = WireBrowser(target.server.wire)
            own.headers = [("X-Forwarded-For", Self.home)]
            own.cookies["device"] = planted
            _ = try app.code(try await own.signIn(try await app.begin(own)))
            let given = try #require(own.cookies["device"])
            #expect(given != planted)
            for _ in 0..<10 { _ = try await target.password("wrong", from: Self.attacker) }
            for device in [planted, String(given.dropLast()) + (given.last == "x" ? "y" : "x")] {
                let attacker = WireBrowser(target.server.wire)
                attacker.headers = [("X-Forwarded-For", Self.attacker)]
                attacker.cookies["device"] = device
                #expect(try await attacker.signIn(try await app.begin(attacker)).status == 200)
            }
        }
    }

    @Test("Wrong passwords, wrong codes, locked accounts and unknown users get the same response")
    func sameAnswers() async throws {
        try await Self.attack { target in
            var answers: Set<String> = []
            func note(_ response: WireResponse) throws {
                try expectRefusal(response, 400, "invalid_grant")
                answers.insert(response.body)
            }
            try note(try await target.password("wrong", from: Self.attacker))
            for _ in 0..<4 { try note(try await target.password("wrong", from: Self.attacker)) }
            try note(try await target.password(from: Self.attacker))
            for _ in 0..<100 {
                target.waitForLocks()
                try note(try await target.first(target.app.wrongCode, from: Self.attacker))
            }
            target.waitForLocks()
            try note(try await target.first(target.app.code(), from: Self.attacker))
            try note(try await target.easy.at(Self.attacker).password(["username": "unknown@example.com"]))
            #expect(answers.count == 1, "\(answers)")
        }
    }

    @Test(
        "After 100 wrong passwords in a row, even correct passwords from unknown addresses are rejected until a sign-in at a known address")
    func passwordsFromElsewhere() async throws {
        try await Self.attack { target in
            #expect(try await target.password(from: Self.home).status == 200)
            for _ in 0..<100 {
                _ = try await target.password("wrong", from: Self.attacker)
                target.waitForLocks()
            }
            target.server.clock.advance(by: 86_400)
            try expectRefusal(try await target.password(from: Self.hotel), 400, "invalid_grant")
            #expect(try await target.password(from: Self.home).status == 200)
            #expect(try await target.password(from: Self.hotel).status == 200)
        }
    }
}
