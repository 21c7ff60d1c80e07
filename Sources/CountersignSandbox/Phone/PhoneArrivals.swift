internal import AuthFoundation
internal import DeviceAuthenticator
internal import Foundation
internal import Logging

/// The arrival of requests: by push, and by a fetch of the pending requests.
extension VirtualPhone {
    /// Receives a push from the gateway.
    func receive(_ payload: [UInt8]) async {
        let (delay, times) = read { ($0.delay, $0.deliversTwice ? 2 : 1) }
        // The wait is cancelled when the gateway stops with the sandbox.
        if delay > 0, (try? await parts.clock.sleep(for: .seconds(delay))) == nil { return }
        for _ in 0..<times { await deliver(payload) }
    }

    /// Handles a push as an app does.
    private func deliver(_ payload: [UInt8]) async {
        let device = read { $0.device }
        do {
            guard let userInfo = try JSONSerialization.jsonObject(with: Data(payload)) as? [AnyHashable: Any],
                let challenge = try device.parsePushNotification(userInfo: userInfo) as? PushChallenge
            else { return parts.logger.write(.warning, "push", "A push that contains no challenge was ignored.") }
            // The phone shows nothing of the request before the organization's signature is verified.
            try await challenge.verify()
            admit([challenge], isListed: false)
        } catch {
            parts.logger.write(.warning, "push", "A push was not accepted: \(technicalText(of: error))")
        }
    }

    /// Fetches the pending requests, as an app does when it comes to the foreground. Requests that the server no longer lists are
    /// withdrawn.
    /// - Returns: The pending requests.
    /// - Throws: `DeviceAuthenticatorError`; its reason is `network` while the phone is offline.
    @discardableResult
    public func pending() async throws -> [Request] {
        try await pull()
        return waiting
    }

    func pull() async throws {
        let (known, upkeep) = read { ($0.inbox.waitingIDs, $0.upkeep) }
        var challenges: [PushChallenge] = []
        for enrollment in enrollments {
            challenges += try await upkeep.use(for: enrollment) { try await enrollment.retrievePushChallenges(authenticationToken: $0) }
                // Requests that cannot be verified now are omitted. The next pull tries again.
                .compactMap { $0 as? PushChallenge }.filter(\.isVerified)
        }
        admit(challenges, isListed: true)
        let listed = Set(challenges.map(\.transactionId))
        let now = parts.clock.now
        change {
            $0.inbox.expire(now: now)
            $0.inbox.withdraw(known, except: listed, now: now)
        }
    }

    private func admit(_ challenges: [PushChallenge], isListed: Bool) {
        let now = parts.clock.now
        let fresh = change { state in
            challenges.filter { state.isOn && state.inbox.admit($0, isListed: isListed, now: now) }
        }
        for challenge in fresh {
            let rest = challenge.expirationTime.timeIntervalSince(now)
            start { phone in
                // Uses the overload for durations, because the overload for seconds would advance a skipping clock.
                guard (try? await phone.parts.clock.sleep(for: .seconds(rest))) != nil else { return }
                let now = phone.parts.clock.now
                phone.change { _ = $0.inbox.expire(now: now) }
            }
        }
        if !fresh.isEmpty { answerByItself() }
    }
}
