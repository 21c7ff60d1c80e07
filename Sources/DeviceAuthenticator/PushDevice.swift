internal import AuthFoundation
internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// The authenticator that ``DeviceAuthenticatorBuilder/create()`` returns. It has no mutable state.
final class PushDevice: DeviceAuthenticatorProtocol {
    let store: EnrollmentStore
    let keys: any DeviceKeyStore
    let transport: OrgTransport
    let clock: OrgClock
    let randomness: Randomness
    let userVerifier: (any UserVerifier)?
    let description: DeviceDescription
    let apsEnvironment: String
    let log: EventLog

    init(
        store: EnrollmentStore, keys: any DeviceKeyStore, transport: OrgTransport, randomness: Randomness,
        userVerifier: (any UserVerifier)?, description: DeviceDescription, apsEnvironment: String, log: EventLog
    ) {
        self.store = store
        self.keys = keys
        self.transport = transport
        clock = transport.clock
        self.randomness = randomness
        self.userVerifier = userVerifier
        self.description = description
        self.apsEnvironment = apsEnvironment
        self.log = log
    }

    var challengeKeys: ChallengeKeys { ChallengeKeys(store: store, transport: transport, clock: clock.device) }

    func downloadPolicy(
        authenticationToken: AuthToken, authenticatorConfig: DeviceAuthenticatorConfig,
        completion: @escaping @Sendable (Result<any AuthenticatorPolicyProtocol, DeviceAuthenticatorError>) -> Void
    ) {
        Callback.run(completion) {
            try await self.downloadPolicy(authenticationToken: authenticationToken, authenticatorConfig: authenticatorConfig)
        }
    }

    func downloadPolicy(authenticationToken: AuthToken, authenticatorConfig: DeviceAuthenticatorConfig) async throws
        -> any AuthenticatorPolicyProtocol
    {
        try await DeviceAuthenticatorError.reported { try await metadata(config: authenticatorConfig, token: authenticationToken) }
    }

    func metadata(config: DeviceAuthenticatorConfig, token: AuthToken) async throws -> AuthenticatorMetadata {
        let request = try OrgRequests.configuration(of: config.orgURL, clientID: config.oidcClientId, token: token)
        return try AuthenticatorMetadata(try await transport.json(request), organization: config.orgURL)
    }

    func enroll(
        authenticationToken: AuthToken, authenticatorConfig: DeviceAuthenticatorConfig, enrollmentParameters: EnrollmentParameters,
        completion: @escaping @Sendable (Result<any AuthenticatorEnrollmentProtocol, DeviceAuthenticatorError>) -> Void
    ) {
        Callback.run(completion) {
            try await self.enroll(
                authenticationToken: authenticationToken, authenticatorConfig: authenticatorConfig,
                enrollmentParameters: enrollmentParameters)
        }
    }

    func enroll(
        authenticationToken: AuthToken, authenticatorConfig: DeviceAuthenticatorConfig, enrollmentParameters: EnrollmentParameters
    ) async throws -> any AuthenticatorEnrollmentProtocol {
        let enrolling = Enrolling(device: self, token: authenticationToken, config: authenticatorConfig, parameters: enrollmentParameters)
        let record = try await DeviceAuthenticatorError.reported { try await enrolling.run() }
        log.info("enrolled", "The enrollment \(record.id) was made")
        return AuthenticatorEnrollment(record, device: self)
    }

    func allEnrollments() -> [any AuthenticatorEnrollmentProtocol] {
        do {
            let (records, failures) = try store.enrollments()
            for failure in failures { log.warning("storage", failure.debugDescription) }
            return records.map { AuthenticatorEnrollment($0, device: self) }
        } catch {
            log.warning("storage", StorageError(error).debugDescription)
            return []
        }
    }

    func enrollments() throws -> [any AuthenticatorEnrollmentProtocol] {
        do {
            let (records, failures) = try store.enrollments()
            if let failure = failures.first { throw failure }
            return records.map { AuthenticatorEnrollment($0, device: self) }
        } catch {
            throw DeviceAuthenticatorError.reporting(error)
        }
    }

    func delete(
        enrollment: any AuthenticatorEnrollmentProtocol, authenticationToken: AuthToken,
        completion: @escaping @Sendable (DeviceAuthenticatorError?) -> Void
    ) {
        enrollment.delete(enrollment: enrollment, authenticationToken: authenticationToken, completion: completion)
    }

    func delete(enrollment: any AuthenticatorEnrollmentProtocol, authenticationToken: AuthToken) async throws {
        try await enrollment.delete(enrollment: enrollment, authenticationToken: authenticationToken)
    }

    func parsePushNotification(userInfo: [AnyHashable: Any], actionIdentifier: String?, allowedClockSkewInSeconds: Int) throws
        -> any PushChallengeProtocol
    {
        let claims = try ChallengeClaims(jwt: try PushPayload(userInfo: userInfo).challenge)
        let record: EnrollmentRecord?
        do {
            record = try store.enrollment(claims.enrollmentID)
        } catch StorageError.itemNotFound {
            // The enrollment belongs to another device, from which this one was restored.
            record = nil
        } catch {
            throw DeviceAuthenticatorError.storageError(StorageError(error))
        }
        let challenge = PushChallenge(
            claims: claims, enrollment: record.map { AuthenticatorEnrollment($0, device: self) }, device: self,
            skew: allowedClockSkewInSeconds, response: PushPayload.response(toAction: actionIdentifier))
        guard let record else { throw DeviceAuthenticatorError.accountNotFoundForChallenge(challenge) }
        try claims.check(against: record)
        do {
            try challenge.verifyIfKeyIsKnown(record)
        } catch DeviceAuthenticatorError.securityError(let error) {
            throw error
        }
        return challenge
    }

    func makeVerificationKey(tag: String, flags: SecAccessControlCreateFlags) async throws -> DevicePublicKey {
        let request = UserVerificationRequest(
            purpose: .makeKey, reason: "Protect your sign-in approvals on this device", accessControlFlags: flags)
        return try await keys.makeGuardedKey(tag: tag, request: request, verifier: userVerifier)
    }

    /// Sends a request that is signed with the org's time. Retries once if the response corrects that time. The body signs the request with
    /// the given time and sends it.
    func sendDated<Result: Sendable>(
        by org: URL, _ body: @Sendable (Date) async throws -> Result
    ) async throws -> Result {
        let now = clock.now(at: org)
        do {
            return try await body(now)
        } catch DeviceAuthenticatorError.serverAPIError(let refusal, let model) where [400, 401].contains(refusal.response?.statusCode) {
            let corrected = clock.now(at: org)
            // The device's clock advances during the request; only a larger difference is a correction.
            guard abs(corrected.timeIntervalSince(now)) > OrgClock.tolerance / 2 else {
                throw DeviceAuthenticatorError.serverAPIError(refusal, model)
            }
            return try await body(corrected)
        }
    }

    func signWithPossessionKey(_ token: ClientToken) async throws -> String {
        do {
            return try await store.run { [keys] _ in try token.signed(by: keys) }
        } catch SecurityError.keyCorrupted(let error) {
            log.warning("possessionKey", technicalText(of: error))
            throw DeviceAuthenticatorError.genericError(LocalFailure.possessionKeyMissing)
        }
    }

    /// Deletes keys after a failure, except keys that stored entries use or may use.
    func deleteKeysIfUnnamed(_ tags: [String]) async {
        do {
            await deleteKeys(try await store.run { try $0.unnamed(among: tags) })
        } catch {
            log.warning("keys", "New keys are kept, for it can't be told whether they are in use: \(technicalText(of: error))")
        }
    }

    /// Deletes unused keys. Failures are only logged, because a remaining key does no harm.
    func deleteKeys(_ tags: [String]) async {
        for tag in tags {
            do {
                try await store.run { [keys] _ in try keys.deleteKey(tag: tag) }
            } catch {
                log.warning("keys", "The unused key \(tag) can't be deleted: \(technicalText(of: error))")
            }
        }
    }
}
