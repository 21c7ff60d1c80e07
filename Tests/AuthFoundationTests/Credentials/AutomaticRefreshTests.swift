import Dispatch
import Foundation
import TestSupport
import Testing

@testable import AuthFoundation

@Suite("Automatic refresh")
struct AutomaticRefreshTests {
    private let session = ScriptedIssuer()
    private let clock = ManualClock()

    private func with(_ body: () async throws -> Void) async throws {
        try await Credential.withStorage(MemoryTokenStorage(), session: session, clock: clock, operation: body)
    }

    /// A clock that calls a function whenever a sleep is cancelled.
    private struct WatchedClock: OAuth2Clock {
        let base: ManualClock
        let cancelled: @Sendable () -> Void

        var now: Date { base.now }

        func sleep(for interval: TimeInterval) async throws {
            try await withTaskCancellationHandler {
                try await base.sleep(for: interval)
            } onCancel: {
                cancelled()
            }
        }
    }

    @Test("When an unlock ends the paused wait of an automatic refresh, the clock's cancellation handler can use the credential")
    func usableDuringCancellation() async throws {
        let (known, isFree) = (Locked<Credential?>(nil), Locked<Bool?>(nil))
        let watched = WatchedClock(base: clock) {
            let used = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                _ = known.withLock { $0 }?.isLocked
                used.signal()
            }
            let result = used.wait(timeout: .now() + 5)
            isFree.exchange(result == .success)
        }
        try await Credential.withStorage(MemoryTokenStorage(), session: session, clock: watched) {
            let credential = try Credential.store(.fixture())
            known.exchange(credential)
            credential.automaticRefresh = true
            await clock.sleepers(1)
            credential.lock()
            try await credential.unlock { _ in }
            #expect(isFree.withLock { $0 } == true && credential.automaticRefresh)
        }
    }

    @Test("Automatic refresh refreshes the token 300 seconds before each expiry")
    func refreshesInTime() async throws {
        session.on("/v1/token") { _, count in .tokens("access-\(count + 2)", refresh: "refresh-\(count + 2)") }
        try await with {
            let credential = try Credential.store(.fixture())
            credential.automaticRefresh = true
            #expect(credential.automaticRefresh)
            for round in 1...3 {
                await clock.sleepers(1)
                #expect(clock.waits == [3300])
                #expect(session.requests("/v1/token").count == round - 1)
                clock.advance(by: 3300)
            }
            await clock.sleepers(1)
            #expect(credential.token.accessToken == "access-4")
            credential.automaticRefresh = false
            #expect(!credential.automaticRefresh)
        }
    }

    @Test("After failures, automatic refresh doubles its wait from 5 up to 300 seconds, and a success restores the schedule")
    func backsOff() async throws {
        session.on("/v1/token") { _, count in count < 8 ? .init(status: 503) : .tokens("access-2") }
        try await with {
            let credential = try Credential.store(.fixture())
            credential.automaticRefresh = true
            var waits: [TimeInterval] = []
            for _ in 0..<9 {
                await clock.sleepers(1)
                let wait = try #require(clock.waits.first)
                waits.append(wait)
                clock.advance(by: wait)
            }
            #expect(waits == [3300, 5, 10, 20, 40, 80, 160, 300, 300])
            await clock.sleepers(1)
            #expect(clock.waits == [3300])
        }
    }

    @Test(
        "A token with a lifetime below the grace interval is refreshed after half its lifetime, but not before one second",
        arguments: [(200, 100.0), (2, 1), (1, 1), (0, 1)])
    func handlesShortTokens(_ life: Int, _ wait: TimeInterval) async throws {
        session.on("/v1/token") { _, count in .tokens("access-\(count + 2)", refresh: "refresh", expiresIn: life) }
        try await with {
            let credential = try Credential.store(.fixture(expiresIn: Int64(life)))
            credential.automaticRefresh = true
            for _ in 0..<3 {
                await clock.sleepers(1)
                #expect(clock.waits == [wait])
                clock.advance(by: wait)
            }
            await clock.sleepers(1)
            #expect(credential.token.accessToken == "access-4")
        }
    }

    @Test("Automatic refresh stops when the server rejects the refresh token")
    func stopsAtEnd() async throws {
        session.on("/v1/token") { _, _ in .invalidGrant }
        try await with {
            let credential = try Credential.store(.fixture())
            let events = Credential.events
            credential.automaticRefresh = true
            await clock.sleepers(1)
            clock.advance(by: 3300)
            #expect(await events.first(2) == ["refreshFailed session-1", "ended session-1"])
            while credential.automaticRefresh { await Task.yield() }
            #expect(clock.waits.isEmpty)
        }
    }

    @Test("Automatic refresh stops when the credential is removed, and cannot be turned on again")
    func stopsWhenRemoved() async throws {
        try await with {
            let credential = try Credential.store(.fixture())
            credential.automaticRefresh = true
            await clock.sleepers(1)
            try credential.remove()
            #expect(!credential.automaticRefresh)
            while !clock.waits.isEmpty { await Task.yield() }
            credential.automaticRefresh = true
            #expect(!credential.automaticRefresh)
        }
    }

    @Test("Automatic refresh that is turned off and on again during a refresh continues with a single timer")
    func restarts() async throws {
        let gate = Gate()
        session.on("/v1/token") { _, count in
            if count == 0 { await gate.wait() }
            return .tokens("access-\(count + 2)", refresh: "refresh-\(count + 2)")
        }
        try await with {
            let credential = try Credential.store(.fixture())
            credential.automaticRefresh = true
            await clock.sleepers(1)
            clock.advance(by: 3300)
            while session.requests("/v1/token").isEmpty { await Task.yield() }
            // The old task is refreshing, so it has no sleep whose cancellation would end the task.
            credential.automaticRefresh = false
            credential.automaticRefresh = true
            gate.open()
            await clock.sleepers(1)
            for _ in 0..<200 { await Task.yield() }
            #expect(clock.waits.count == 1)
            #expect(credential.automaticRefresh)
        }
    }

    @Test("Automatic refresh fails and stays off if the credential has no refresh token")
    func needsRefreshToken() async throws {
        try await with {
            let credential = try Credential.store(.fixture(refresh: nil))
            let events = Credential.events
            credential.automaticRefresh = true
            #expect(!credential.automaticRefresh)
            #expect(await events.first(1) == ["refreshFailed session-1"])
            #expect(throws: OAuth2Error.missingToken(type: .refreshToken)) { try credential.startAutomaticRefresh() }
        }
    }

    @Test("A refresh that the app starts postpones the next automatic refresh")
    func heedsOthers() async throws {
        session.on("/v1/token") { _, count in .tokens("access-\(count + 2)", refresh: "refresh") }
        try await with {
            let credential = try Credential.store(.fixture())
            credential.automaticRefresh = true
            await clock.sleepers(1)
            clock.advance(by: 1000)
            try await credential.refresh()
            clock.advance(by: 2300)
            await clock.sleepers(1)
            #expect(session.requests("/v1/token").count == 1)
            #expect(clock.waits == [1000])
        }
    }

    @Test(
        "While the credential is locked, automatic refresh sets no timer, and after the unlock it continues", .timeLimit(.minutes(1)))
    func pausesWhileLocked() async throws {
        session.on("/v1/token") { _, count in .tokens("access-\(count + 2)", refresh: "refresh-\(count + 2)") }
        try await with {
            let credential = try Credential.store(.fixture())
            credential.automaticRefresh = true
            await clock.sleepers(1)
            credential.lock()
            clock.advance(by: 3300)
            for _ in 0..<1000 { await Task.yield() }
            #expect(clock.waits.isEmpty && session.requests("/v1/token").isEmpty)
            #expect(credential.automaticRefresh)
            try await credential.unlock { _ in }
            await clock.sleepers(1)
            #expect(clock.waits == [1])
            clock.advance(by: 1)
            await clock.sleepers(1)
            #expect(credential.token.accessToken == "access-2" && clock.waits == [3300])
            credential.lock()
            try await credential.unlock { _ in }
            for _ in 0..<1000 { await Task.yield() }
            #expect(clock.waits == [3300])
            credential.lock()
            credential.automaticRefresh = false
            #expect(throws: CredentialLockedError()) { try credential.startAutomaticRefresh() }
        }
    }
}
