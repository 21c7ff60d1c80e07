internal import AuthFoundation
internal import Foundation
internal import JOSE

/// One resolution of a challenge: verifies the challenge, asks the user, signs the answer and sends it (Documentation/Protocol/Devices.md
/// §5.2).
struct ChallengeResolution: Sendable {
    let challenge: PushChallenge
    let device: PushDevice
    let tell: @Sendable (RemediationStep) -> Void

    private var claims: ChallengeClaims { challenge.claims }

    func run() async throws {
        // The enrollment may have been replaced or deleted since the challenge was parsed.
        guard let enrollment = challenge.enrollment,
            let record = try await device.store.run({ [id = claims.enrollmentID] in try $0.enrollment(id) })
        else { throw DeviceAuthenticatorError.accountNotFoundForChallenge(challenge) }
        try await checkTimes(at: record.organizationURL)
        try await challenge.verify()
        try claims.check(against: record)
        if needsConsent {
            challenge.take(try await consent(of: enrollment))
            try await checkTimes(at: record.organizationURL)
        }
        try checkNumber()
        try await device.sendDated(by: record.organizationURL) { now in
            let (answer, failure) = try await signedAnswer(record, now)
            try await send(answer, after: failure, to: record.organizationURL)
        }
    }

    /// Checks the challenge's times against the org's time. If a check fails and the org's time is unknown, asks the org for it.
    private func checkTimes(at org: URL) async throws {
        func isWrong() -> Bool {
            let now = device.clock.now(at: org)
            return claims.isExpired(at: now, skew: challenge.skew) || claims.isFromFuture(at: now, skew: challenge.skew)
        }
        var failure: (any Error)?
        if isWrong(), device.clock.offset(of: org) == nil {
            // Every response of the org carries its time.
            do { _ = try await device.transport.send(OrgRequests.organization(of: org)) } catch { failure = error }
            try Task.checkCancellation()
        }
        // The server checks the times. Its rejection is reported with the difference of the clocks.
        guard isWrong(), !device.clock.isTooWrong(for: org) else { return }
        if claims.isExpired(at: device.clock.now(at: org), skew: challenge.skew) { throw LocalFailure.expired }
        // Without a response, the challenge may be valid and the device's clock slow. The app can resolve it again.
        if let failure, device.clock.offset(of: org) == nil { throw failure }
        throw LocalFailure.notVerified
    }

    private var needsConsent: Bool {
        switch challenge.userResponse {
        case .userNotResponded: true
        case .userDenied: false
        // Approval by a notification's action does not include a number.
        case .userApproved: claims.numberChoices != nil && challenge.selectedNumber == nil
        }
    }

    private func consent(of enrollment: AuthenticatorEnrollment) async throws -> Consent {
        let answer = Decision<Consent>()
        // Only the app retains the step. If the app releases the step without an answer, the step's `deinit` ends the wait.
        tell(RemediationStepUserConsent(challenge: challenge, enrollment: enrollment, answer: answer))
        return try await answer.valueUnlessCancelled()
    }

    private func checkNumber() throws {
        guard challenge.userResponse == .userApproved, let choices = claims.numberChoices else { return }
        guard let number = challenge.selectedNumber, choices.contains(number) else {
            challenge.forgetAnswer()
            throw DeviceAuthenticatorError.genericError(LocalFailure.numberNotPicked)
        }
    }

    /// The user's consent in the answer (Documentation/Protocol/Devices.md §3.7).
    enum UserConsent: String, Sendable {
        case approved = "APPROVED_CONSENT_PROMPT"
        case approvedVerified = "APPROVED_USER_VERIFICATION"
        case denied = "DENIED_CONSENT_PROMPT"
        case verificationCancelled = "CANCELLED_USER_VERIFICATION"
        case verificationTemporarilyUnavailable = "UV_TEMPORARILY_UNAVAILABLE"
        case verificationPermanentlyUnavailable = "UV_PERMANENTLY_UNAVAILABLE"
        case none = "NONE"
    }

    /// Returns the signed answer, and the error if user verification failed.
    private func signedAnswer(_ record: EnrollmentRecord, _ now: Date) async throws -> (String, SecurityError?) {
        guard challenge.userResponse == .userApproved else { return (try await possessionAnswer(.denied, record, now), nil) }
        guard [.preferred, .required].contains(claims.userVerification) else {
            return (try await possessionAnswer(.approved, record, now), nil)
        }
        guard let tag = record.verificationKeyTag else {
            report(.userVerificationKeyNotEnrolled, "No user verification key is enrolled, falling back to proof of possession", nil)
            return (try await possessionAnswer(withoutKey, record, now), nil)
        }
        do {
            return (try await verifiedAnswer(tag, record, now), nil)
        } catch let error as SecurityError {
            let (reason, consent) = consequence(of: error)
            report(reason, "Failed to sign with the user verification key, falling back to proof of possession", .securityError(error))
            return (try await possessionAnswer(consent, record, now), error)
        } catch let error as StorageError where error == .deviceLocked {
            // The key is not lost. The app can resolve the challenge after the unlock.
            throw error
        } catch let error as StorageError {
            report(.userVerificationKeyNotEnrolled, "The user verification key can't be read", .storageError(error))
            return (try await possessionAnswer(withoutKey, record, now), nil)
        } catch {
            // An app's own key store may throw other errors. After a cancellation, no answer is sent.
            try Task.checkCancellation()
            report(
                .userVerificationKeyNotEnrolled, "The user verification key can't be used, falling back to proof of possession",
                DeviceAuthenticatorError.reporting(error) as? DeviceAuthenticatorError)
            return (try await possessionAnswer(withoutKey, record, now), nil)
        }
    }

    private var withoutKey: UserConsent { claims.userVerification == .required ? .verificationPermanentlyUnavailable : .none }

    /// Maps an error of user verification to its report and its consent value (Documentation/Protocol/Devices.md §5.3).
    private func consequence(of error: SecurityError) -> (RemediationStepMessageReasonType, UserConsent) {
        switch error {
        case .localAuthenticationCancelled: (.userVerificationCancelledByUser, .verificationCancelled)
        case .localAuthenticationFailed, .localAuthenticationPasscodeNotSet:
            (.userVerificationFailed, .verificationTemporarilyUnavailable)
        case .keyCorrupted: (.userVerificationKeyCorruptedOrMissing, .verificationPermanentlyUnavailable)
        default: (.userVerificationKeyNotEnrolled, withoutKey)
        }
    }

    private func report(_ reason: RemediationStepMessageReasonType, _ message: String, _ error: DeviceAuthenticatorError?) {
        device.log.warning("userVerification", message)
        tell(RemediationStepMessage(reasonType: reason, message: message, challenge: challenge, error: error))
    }

    private func verifiedAnswer(_ tag: String, _ record: EnrollmentRecord, _ now: Date) async throws -> String {
        let request = UserVerificationRequest(
            purpose: .approve, reason: verificationReason,
            accessControlFlags: record.verificationFlags.map(SecAccessControlCreateFlags.init(bits:)) ?? .biometryCurrentSet)
        let token = token(keyTag: tag, record, now)
        let (input, signature) = try await device.keys.sign(guardedTag: tag, request: request, verifier: device.userVerifier) { method in
            var token = token
            token.claims["keyType"] = "userVerification"
            token.claims["amr"] = [.string(method.rawValue)]
            token.claims["challengeResponseContext"] = context(.approvedVerified)
            return token.signingInput
        }
        return ClientToken.compact(input, signature: signature)
    }

    private var verificationReason: String {
        if claims.isCIBA, let message = claims.bindingMessage, !message.isEmpty { return message }
        return claims.appInstanceName.map { "Sign in to \($0)" } ?? "Approve the sign-in"
    }

    private func possessionAnswer(_ consent: UserConsent, _ record: EnrollmentRecord, _ now: Date) async throws -> String {
        var token = token(keyTag: record.possessionKeyTag, record, now)
        token.claims["keyType"] = "proofOfPossession"
        token.claims["amr"] = []
        token.claims["challengeResponseContext"] = context(consent)
        return try await device.signWithPossessionKey(token)
    }

    private func token(keyTag: String, _ record: EnrollmentRecord, _ now: Date) -> ClientToken {
        var token = ClientToken(
            type: ChallengeClaims.type, keyTag: keyTag, issuer: record.id, audience: claims.issuer, subject: record.userID,
            now: now, randomness: device.randomness)
        token.claims["tx"] = .string(claims.transactionID)
        token.claims["nonce"] = .string(claims.nonce)
        token.claims["methodEnrollmentId"] = .string(record.methodID)
        token.claims["deviceSignals"] = device.description.signals(requested: claims.requestedSignals, record: record)
        token.claims["integrations"] = unanswered(claims.integrations)
        token.claims["signalProviders"] = unanswered(claims.signalProviders)
        return token
    }

    private func context(_ consent: UserConsent) -> JSONValue {
        var context: JSONValue = ["userConsent": .string(consent.rawValue), "transactionType": .string(claims.transactionType)]
        if challenge.userResponse == .userApproved, claims.numberChoices != nil {
            context["selectedNumber"] = challenge.selectedNumber.map(JSONValue.string)
        }
        if consent == .denied, challenge.isReportedSuspicious { context["suspicious"] = true }
        return context
    }

    /// Returns the answers for integrations and signal providers. This module supports none of them.
    private func unanswered(_ names: [String]) -> JSONValue {
        .array(names.map { ["name": .string($0), "error": "not available on this device"] })
    }

    private func send(_ answer: String, after failure: SecurityError?, to org: URL) async throws {
        do {
            _ = try await device.transport.send(OrgRequests.verify(at: claims.verificationURI, answer: answer))
            device.log.info("challengeAnswered", "The answer to \(claims.transactionID) was delivered")
        } catch DeviceAuthenticatorError.serverAPIError(let result, let model) {
            // Adds the device's own error. The server does not know why user verification failed, or that the device's clock is wrong.
            let clock = device.clock.isTooWrong(for: org) ? device.clock.error(at: org) : nil
            throw DeviceAuthenticatorError.serverAPIError(result.with(error: failure ?? clock), model)
        }
    }
}
