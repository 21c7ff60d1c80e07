internal import DeviceAuthenticator
internal import Foundation
internal import Logging

/// How requests get onto a phone: by push, and when the app asks for what waits.
extension VirtualPhone {
    /// Takes a push from the gateway.
    func receive(_ payload: [UInt8]) async {
        let (delay, times) = read { ($0.delay, $0.deliversTwice ? 2 : 1) }
        // Cancelled: the gateway has stopped, and with it the sandbox.
        if delay > 0, (try? await parts.clock.sleep(for: .seconds(delay))) == nil { return }
        for _ in 0..<times { await deliver(payload) }
    }

    /// What an app does in its handler for pushes.
    private func deliver(_ payload: [UInt8]) async {
        let device = read { $0.device }
        do {
            guard let userInfo = try JSONSerialization.jsonObject(with: Data(payload)) as? [AnyHashable: Any],
                let challenge = try device.parsePushNotification(userInfo: userInfo) as? PushChallenge
            else { return parts.logger.write(.warning, "push", "A push that is no challenge was passed over.") }
            // Nothing of it is shown before the organization's signature was checked.
            try await challenge.verify()
            admit([challenge], isListed: false)
        } catch {
            parts.logger.write(.warning, "push", "A push was not accepted: \(error.localizedDescription)")
        }
    }

    /// Asks the server for what waits, as an app does when it comes to the foreground. What the server lists no more is withdrawn here.
    ///
    /// - Returns: What waits now.
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
                // What can't be verified just now shows nothing; the next pull tries again.
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
                // Not as somebody who waits on a skipping clock: that would move it on.
                guard (try? await phone.parts.clock.sleep(for: .seconds(rest))) != nil else { return }
                let now = phone.parts.clock.now
                phone.change { _ = $0.inbox.expire(now: now) }
            }
        }
        if !fresh.isEmpty { answerByItself() }
    }
}
