internal import AuthFoundation
internal import Foundation
internal import JOSE

/// A pull of the pending challenges of an enrollment (Documentation/Protocol/Devices.md §2.8).
struct PendingChallenges: Sendable {
    /// The maximum number of challenges that one pull returns, more than a user answers.
    private static let maximumCount = 100

    let enrollment: AuthenticatorEnrollment
    let token: AuthToken
    let skew: Int

    private var device: PushDevice { enrollment.device }

    func challenges() async throws -> [any PushChallengeProtocol] {
        let id = enrollment.record.id
        guard let record = try await device.store.run({ try $0.enrollment(id) }), let link = record.pendingLink else {
            throw DeviceAuthenticatorError.internalError("Failed to construct pending challenge URL")
        }
        let data = try await device.transport.send(OrgRequests.pending(at: link, token: token))
        guard let elements = (try? JSONValue(parsing: data))?.arrayValue, elements.allSatisfy({ $0.objectValue != nil }) else {
            throw DeviceAuthenticatorError.genericError("Failed to decode server payload")
        }
        await device.challengeKeys.refreshIfNeeded(record.organizationURL, organizationID: record.organizationID)
        var challenges: [PushChallenge] = []
        for element in elements.prefix(Self.maximumCount) {
            if let challenge = try await challenge(element, record) { challenges.append(challenge) }
        }
        return challenges
    }

    /// Returns the challenge of an element; `nil` if the element is not a valid challenge of the org for this enrollment.
    private func challenge(_ element: JSONValue, _ record: EnrollmentRecord) async throws -> PushChallenge? {
        do {
            let payload = try PushPayload { element[$0]?.stringValue }
            let claims = try ChallengeClaims(jwt: payload.challenge)
            guard claims.enrollmentID == record.id else { return nil }
            try claims.check(against: record)
            let challenge = PushChallenge(claims: claims, enrollment: enrollment, device: device, skew: skew)
            do {
                try await challenge.verify()
            } catch let error as DeviceAuthenticatorError where error.reason != .untrustedChallenge {
                // The keys cannot be fetched now: the challenge stays unverified, hides its details, and is verified when it is resolved.
                device.log.warning("challengeKeys", "The keys of the org can't be read: \(technicalText(of: error))")
            }
            return challenge
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            device.log.warning("challengeSkipped", "A pending challenge was skipped: \(technicalText(of: error))")
            return nil
        }
    }
}
