import AuthFoundation
import CountersignSandbox
import DeviceAuthenticator
import Foundation
import OktaDirectAuth
import Testing

@Suite("A sign-in with a password and a push", .timeLimit(.minutes(10)))
struct PushSignInTests {
    @Test("After the user approves a push, the app gets tokens within one polling interval; the phone shows the app's name")
    func approve() async throws {
        try await withSandbox(.standing()) { sandbox in
            let phone = try await sandbox.phone(for: SandboxUser.jane.login)
            let signIn = PushSignIn(sandbox)
            let start = sandbox.clock.now
            let waiting = try await signIn.begin()
            let wait = try await signIn.clock.nextWait()
            #expect(wait.interval == 5)

            let request = try await phone.approveNext(within: .patience)
            #expect(request.applicationName == "Direct Authentication App")
            #expect(request.location == "127.0.0.1")
            #expect(request.time == start && request.expiresAt == start.addingTimeInterval(300))
            #expect(request.numberChoices == nil && request.bindingMessage == nil && !request.isCIBA)
            #expect(phone.waiting.isEmpty && phone.history.map(\.request) == [request] && phone.outcomes == [.approved])
            #expect(phone.history.first?.at == start)

            signIn.clock.pass(wait)
            guard case .success(let token) = try await waiting.value else { throw CancellationError() }
            #expect(token.idToken?.subject != nil)
            #expect(Set(token.methods).isSuperset(of: ["pwd", "swk", "mfa"]))
            #expect(sandbox.clock.now.timeIntervalSince(start) == 5)
            #expect(sandbox.count(.token, grant: GrantType.oobMFA.rawValue) == 2)
        }
    }

    @Test("If the user denies a push, the sign-in fails with access_denied", arguments: [false, true])
    func deny(isSuspicious: Bool) async throws {
        try await withSandbox(.standing()) { sandbox in
            let phone = try await sandbox.phone(for: SandboxUser.jane.login)
            let signIn = PushSignIn(sandbox)
            let waiting = try await signIn.begin()
            let wait = try await signIn.clock.nextWait()
            try await phone.denyNext(isSuspicious: isSuspicious, within: .patience)
            #expect(phone.outcomes == [.denied])
            signIn.clock.pass(wait)
            let error = await thrown { _ = try await waiting.value }
            #expect(serverCode(of: error) == "access_denied")
        }
    }

    @Test(
        "A virtual phone with automatic approval approves new requests, and requests that arrived before automatic approval was turned on")
    func autoApprove() async throws {
        try await withSandbox(.standing()) { sandbox in
            let phone = try await sandbox.phone(for: SandboxUser.jane.login)
            for (round, isLate) in [true, false].enumerated() {
                let signIn = PushSignIn(sandbox)
                phone.autoApprove = !isLate
                let waiting = try await signIn.begin()
                if isLate { _ = try await phone.shows { !$0.isEmpty } }
                phone.autoApprove = true
                try await phone.hasHistory(round + 1)
                // The approval may precede the app's first poll.
                let passing = Task { [clock = signIn.clock] in clock.pass(try await clock.nextWait()) }
                guard case .success = try await waiting.value else { throw CancellationError() }
                passing.cancel()
                sandbox.advance(by: 600)
            }
        }
    }

    @Test("A push as the first factor with user verification counts as two factors")
    func primary() async throws {
        try await withSandbox(.standing()) { sandbox in
            let phone = try await sandbox.phone(for: SandboxUser.jane.login, userVerification: true)
            #expect(phone.userVerificationEnabled)
            let signIn = PushSignIn(sandbox)
            let waiting = Task { try await signIn.flow.start(SandboxUser.jane.login, with: .oob(channel: .push)) }
            try await phone.approveNext(within: .patience)
            let passing = Task { signIn.clock.pass(try await signIn.clock.nextWait()) }
            guard case .success(let token) = try await waiting.value else { throw CancellationError() }
            passing.cancel()
            #expect(Set(token.methods).isSuperset(of: ["swk", "pin", "mfa"]))
        }
    }

    @Test("If two sign-ins wait for the same phone, the user can approve one sign-in and deny the other")
    func two() async throws {
        try await withSandbox(.standing()) { sandbox in
            let phone = try await sandbox.phone(for: SandboxUser.jane.login)
            let (first, second) = (PushSignIn(sandbox), PushSignIn(sandbox))
            let firstWaiting = try await first.begin()
            let one = try #require(try await phone.shows { $0.count == 1 }.first)
            let secondWaiting = try await second.begin()
            let two = try #require(try await phone.shows { $0.count == 2 }.last)
            try await phone.approve(two.id)
            try await phone.deny(one.id)
            _ = try await second.tokens(secondWaiting)
            let error = await thrown { _ = try await first.tokens(firstWaiting) }
            #expect(serverCode(of: error) == "access_denied")
            await #expect(throws: PhoneError.self) { try await phone.approve(one.id) }
            #expect(phone.outcomes == [.approved, .denied])
        }
    }

    @Test("After a denied push, the app can complete the sign-in with an authenticator app's code, without asking for the password again")
    func codeAfterDenial() async throws {
        try await withSandbox(.standing()) { sandbox in
            let phone = try await sandbox.phone(for: SandboxUser.jane.login)
            let app = try await sandbox.authenticatorApp(for: SandboxUser.jane.login)
            let signIn = PushSignIn(sandbox)
            let waiting = try await signIn.begin()
            try await phone.deny(try #require(try await phone.shows { !$0.isEmpty }.first).id)
            let error = await thrown { _ = try await signIn.tokens(waiting) }
            #expect(serverCode(of: error) == "access_denied")
            guard case .success(let token) = try await signIn.flow.resume(with: .otp(code: app.code)) else { throw CancellationError() }
            #expect(Set(token.methods).isSuperset(of: ["pwd", "otp", "mfa"]))
        }
    }

    @Test("If five pushes are pending, a sixth push fails immediately, and the error tells the user to wait")
    func flooded() async throws {
        try await withSandbox(.standing()) { sandbox in
            let phone = try await sandbox.phone(for: SandboxUser.jane.login)
            var unanswered: [Task<DirectAuthenticationFlow.Status, any Error>] = []
            for count in 1...5 {
                unanswered.append(try await PushSignIn(sandbox).begin())
                _ = try await phone.shows { $0.count == count }
            }
            let signIn = PushSignIn(sandbox)
            let refused = try await signIn.begin()
            let slept = Task {
                _ = try await signIn.clock.nextWait()
                refused.cancel()
            }
            let error = await thrown { _ = try await refused.value }
            slept.cancel()
            #expect(serverCode(of: error) == "invalid_grant")
            #expect(error.map(ErrorText.init(of:)) == .tooMany, "\(String(describing: error))")
            for task in unanswered { task.cancel() }
        }
    }

    @Test("If no request arrives on a virtual phone in time, approveNext throws an error")
    func nothing() async throws {
        try await withSandbox(.standing()) { sandbox in
            let phone = try await sandbox.phone(for: SandboxUser.jane.login)
            let error = await thrown { try await phone.approveNext(within: .milliseconds(20)) }
            #expect((error as? PhoneError)?.code == .nothingArrived)
        }
    }

    // MARK: - Numbers

    @Test("A sign-in with a number challenge completes if the user approves on the phone with the number that the app shows")
    func number() async throws {
        try await withSandbox(.withNumbers) { sandbox in
            let phone = try await sandbox.phone(for: SandboxUser.jane.login)
            let signIn = PushSignIn(sandbox)
            let code = try await signIn.number(try await signIn.begin())
            let request = try #require(try await phone.shows { !$0.isEmpty }.first)
            #expect(request.numberChoices?.count == 3 && request.numberChoices?.contains(code) == true)

            let error = await thrown { try await phone.approve(request.id) }
            #expect((error as? DeviceAuthenticatorError)?.reason == .numberNotPicked)
            #expect(phone.waiting == [request], "Without a number nothing is sent.")

            let waiting = Task { try await signIn.flow.resume(with: .transfer) }
            let wait = try await signIn.clock.nextWait()
            try await phone.approve(request.id, selectedNumber: code)
            signIn.clock.pass(wait)
            guard case .success = try await waiting.value else { throw CancellationError() }
        }
    }

    @Test(
        "If the user picks a wrong number, the sign-in fails with access_denied, and the phone reports the reason",
        arguments: [false, true])
    func wrongNumber(byItself: Bool) async throws {
        try await withSandbox(.withNumbers) { sandbox in
            let phone = try await sandbox.phone(for: SandboxUser.jane.login)
            phone.picksWrongNumber = true
            phone.autoApprove = byItself
            let signIn = PushSignIn(sandbox)
            let code = try await signIn.number(try await signIn.begin())
            if byItself {
                _ = try await phone.shows { $0.count == 1 }
                phone.pickNumber(code)
                try await phone.hasHistory(1)
            } else {
                await #expect(throws: DeviceAuthenticatorError.self) { try await phone.approveNext(number: code, within: .patience) }
            }
            guard case .failed(let reason)? = phone.history.last?.outcome else {
                Issue.record("\(phone.outcomes)")
                return
            }
            #expect(reason.contains("another number"))
            let error = await thrown { _ = try await signIn.flow.resume(with: .transfer) }
            #expect(serverCode(of: error) == "access_denied")
        }
    }

    // MARK: - Cancellation

    @Test(
        "If the app cancels a sign-in, the phone shows the request as cancelled, and the sign-in does not complete",
        arguments: [false, true])
    func cancel(byReset: Bool) async throws {
        try await withSandbox(.standing()) { sandbox in
            let phone = try await sandbox.phone(for: SandboxUser.jane.login)
            let session = WatchedSession(sandbox.transport)
            let signIn = PushSignIn(sandbox, session: session)
            let waiting = try await signIn.begin()
            let wait = try await signIn.clock.nextWait()
            let request = try #require(try await phone.shows { !$0.isEmpty }.first)
            if byReset { await signIn.flow.reset() } else { waiting.cancel() }
            wait.end.finish()
            _ = await waiting.result
            // The server is notified in the background.
            try await session.answer(of: "revoke")
            #expect(try await phone.pending().isEmpty)
            #expect(phone.history.map(\.request) == [request] && phone.outcomes == [.cancelled])
            await #expect(throws: PhoneError.self) { try await phone.approve(request.id) }
            #expect(!sandbox.requests.contains { $0.grantType == GrantType.oobMFA.rawValue && $0.status == 200 })
        }
    }

    @Test("If the user approves after the app has cancelled the sign-in, the phone reports the request as cancelled")
    func approvalAfterCancel() async throws {
        try await withSandbox(.standing()) { sandbox in
            let phone = try await sandbox.phone(for: SandboxUser.jane.login)
            let session = WatchedSession(sandbox.transport)
            let signIn = PushSignIn(sandbox, session: session)
            let waiting = try await signIn.begin()
            let wait = try await signIn.clock.nextWait()
            let request = try #require(try await phone.shows { !$0.isEmpty }.first)
            waiting.cancel()
            wait.end.finish()
            _ = await waiting.result
            try await session.answer(of: "revoke")
            let error = await thrown { try await phone.approve(request.id) }
            #expect((error as? DeviceAuthenticatorError)?.reason == .cancelled)
            #expect(phone.outcomes == [.cancelled])
        }
    }

    @Test("An unanswered push request expires on the phone and in the app")
    func expiry() async throws {
        try await withSandbox(.standing()) { sandbox in
            let phone = try await sandbox.phone(for: SandboxUser.jane.login)
            let signIn = PushSignIn(sandbox)
            let waiting = try await signIn.begin()
            let wait = try await signIn.clock.nextWait()
            _ = try await phone.shows { !$0.isEmpty }
            sandbox.advance(by: 300)
            _ = try await phone.shows { $0.isEmpty }
            #expect(phone.outcomes == [.expired])
            signIn.clock.pass(wait)
            let error = await thrown { _ = try await waiting.value }
            #expect(serverCode(of: error) == "expired_token")
        }
    }
}
