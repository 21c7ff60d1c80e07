internal import AuthFoundation
internal import Foundation
internal import JOSE

/// A change of an enrollment on the server, then on this device (Documentation/Protocol/Devices.md §2.6).
struct EnrollmentChange: Sendable {
    let enrollment: AuthenticatorEnrollment
    let token: AuthToken

    private var device: PushDevice { enrollment.device }

    func setPushToken(_ pushToken: DeviceToken) async throws {
        let record = try await current()
        try await patch(["methods": ["push": ["pushToken": .string(pushToken.wireValue)]]], record, readsAnswer: false)
        try Task.checkCancellation()
    }

    func setCIBA(_ isEnabled: Bool) async throws {
        let record = try await current()
        let types: TransactionType = isEnabled ? [.login, .ciba] : [.login]
        let body: JSONValue = ["methods": ["push": ["capabilities": ["transactionTypes": JSONValue(types.names)]]]]
        // Stores the requested value, whatever the response contains.
        try await patch(body, record) { $0.transactionTypes = types.rawValue }
        try Task.checkCancellation()
    }

    func setUserVerification(_ isEnabled: Bool, settings: BiometricEnrollmentSettings) async throws {
        if isEnabled { try await enableVerification(settings) } else { try await disableVerification() }
        try Task.checkCancellation()
    }

    private func enableVerification(_ settings: BiometricEnrollmentSettings) async throws {
        let record = try await current()
        let old = record.verificationKeyTag
        var healthy: DevicePublicKey?
        if let old { healthy = try await device.store.run { [keys = device.keys] _ in try keys.publicKey(tag: old) } }
        if let old, let healthy {
            // Reuses the key, so that turning on user verification is idempotent.
            try await register(healthy, tag: old, record)
            return
        }
        let tag = device.randomness.uuid
        do {
            let key = try await device.makeVerificationKey(tag: tag, flags: settings.accessControlFlags)
            try await register(key, tag: tag, record) { $0.verificationFlags = settings.accessControlFlags.bits }
        } catch {
            await device.deleteKeysIfUnnamed([tag])
            throw error
        }
        if let old { await device.deleteKeys([old]) }
    }

    private func register(
        _ key: DevicePublicKey, tag: String, _ record: EnrollmentRecord,
        change: @Sendable @escaping (inout EnrollmentRecord) -> Void = { _ in }
    ) async throws {
        let jwk = key.jwk(tag: tag, isHardwareBacked: device.keys.isHardwareBacked)
        try await patch(["methods": ["push": ["keys": ["userVerification": jwk]]]], record) { record in
            record.verificationKeyTag = tag
            change(&record)
        }
    }

    private func disableVerification() async throws {
        let record = try await current()
        try await patch(["methods": ["push": ["keys": ["userVerification": nil]]]], record) { record in
            record.verificationKeyTag = nil
            record.verificationFlags = nil
        }
        if let tag = record.verificationKeyTag { await device.deleteKeys([tag]) }
    }

    /// Reads the stored enrollment, which another process may have changed.
    private func current() async throws -> EnrollmentRecord {
        let id = enrollment.record.id
        guard let record = try await device.store.run({ try $0.enrollment(id) }) else {
            throw DeviceAuthenticatorError.storageError(.itemNotFound)
        }
        return record
    }

    /// Sends a change and stores the result. Concurrent changes by other processes are kept. If a response that must be read is invalid,
    /// the call fails and stores nothing. Cancellation does not interrupt the change; callers check for cancellation afterwards.
    private func patch(
        _ body: JSONValue, _ record: EnrollmentRecord, readsAnswer: Bool = true,
        change: @Sendable @escaping (inout EnrollmentRecord) -> Void = { _ in }
    ) async throws {
        try await seeThrough { try await sendAndStore(body, record, readsAnswer: readsAnswer, change: change) }
        await device.challengeKeys.refreshIfNeeded(record.organizationURL, organizationID: record.organizationID)
    }

    private func sendAndStore(
        _ body: JSONValue, _ record: EnrollmentRecord, readsAnswer: Bool, change: @Sendable @escaping (inout EnrollmentRecord) -> Void
    ) async throws {
        let now = device.clock.device.now
        let request = try OrgRequests.update(record.id, of: record.organizationURL, body: body, token: token)
        do {
            let data = try await device.transport.send(request)
            let answer = readsAnswer ? try EnrollmentAnswer(reading: data, organization: record.organizationURL) : nil
            let stored = try await device.store.run { store in
                try store.update(record.id) { record in
                    change(&record)
                    record.userName = answer?.userName ?? record.userName
                    record.methodID = answer?.methodID ?? record.methodID
                    // If the response contains no link, the stored link is kept.
                    record.pendingLink = answer?.pendingLink ?? record.pendingLink
                    record.serverErrorCode = nil
                    record.updatedAt = now
                }
            }
            if let stored { enrollment.adopt(stored) }
        } catch DeviceAuthenticatorError.serverAPIError(let result, let model) {
            if let code = model?.errorCode?.rawValue {
                let stored = try? await device.store.run { try $0.update(record.id) { $0.serverErrorCode = code } }
                if let stored = stored ?? nil { enrollment.adopt(stored) }
            }
            throw DeviceAuthenticatorError.serverAPIError(result, model)
        }
    }
}
