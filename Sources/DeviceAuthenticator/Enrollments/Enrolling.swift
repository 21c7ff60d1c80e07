internal import AuthFoundation
internal import Foundation
internal import JOSE

/// The creation of one enrollment, from the request for the org's id to the stored record (Documentation/Protocol/Devices.md §2.5).
struct Enrolling: Sendable {
    let device: PushDevice
    let token: AuthToken
    let config: DeviceAuthenticatorConfig
    let parameters: EnrollmentParameters

    /// The identity of the device in the enrollment request.
    private enum Identity {
        case new(tag: String, key: DevicePublicKey)
        case known(DeviceRecord, attestation: String)
    }

    private struct Keys {
        let possessionTag: String
        let possession: DevicePublicKey
        var verificationTag: String?
        var verification: DevicePublicKey?
    }

    func run() async throws -> EnrollmentRecord {
        if try await device.store.run({ try $0.removeLost() }) {
            device.log.warning("storage", "The enrollments of another device, which can't be read on this one, were removed")
        }
        let organizationID = try await organizationID()
        let metadata = try await device.metadata(config: config, token: token)
        let tags = Tags(instance: device.randomness.uuid, possession: device.randomness.uuid, verification: device.randomness.uuid)
        do {
            let record = try await enroll(organizationID, metadata, tags)
            try Task.checkCancellation()
            await device.challengeKeys.refreshIfNeeded(config.orgURL, organizationID: organizationID)
            return record
        } catch {
            await device.deleteKeysIfUnnamed([tags.instance, tags.possession, tags.verification])
            throw error
        }
    }

    /// The tags of all keys that may be created. After a failure, the keys with these tags are deleted.
    private struct Tags {
        let instance: String
        let possession: String
        let verification: String
    }

    private func enroll(_ organizationID: String, _ metadata: AuthenticatorMetadata, _ tags: Tags) async throws -> EnrollmentRecord {
        let keys = try await makeKeys(tags)
        let identity = try await identity(organizationID, newTag: tags.instance)
        return try await seeThrough { try await register(identity, keys, newTag: tags.instance, organizationID, metadata) }
    }

    private func register(
        _ identity: Identity, _ keys: Keys, newTag: String, _ organizationID: String, _ metadata: AuthenticatorMetadata
    ) async throws -> EnrollmentRecord {
        var identity = identity
        let answer: EnrollmentAnswer
        do {
            answer = try await post(identity, keys, metadata)
        } catch DeviceAuthenticatorError.serverAPIError(let result, let model) {
            // The server has deleted the device: retry once as a new device. The stored data of the old device is replaced only if the
            // retry succeeds.
            guard case .known = identity, model?.errorCode == .deviceDeleted || model?.errorCode == .invalidToken else {
                throw DeviceAuthenticatorError.serverAPIError(result, model)
            }
            identity = try await newIdentity(tag: newTag)
            answer = try await post(identity, keys, metadata)
        }
        let record = record(answer, organizationID, keys)
        let deviceRecord = deviceRecord(identity, answer, organizationID)
        let policy = PolicyRecord(
            organizationID: organizationID, clientID: config.oidcClientId, authenticatorID: metadata.authenticatorID,
            userVerification: metadata.userVerification, methods: metadata.methods)
        try await store(record, deviceRecord, policy)
        return record
    }

    private func organizationID() async throws -> String {
        let answer = try await device.transport.json(OrgRequests.organization(of: config.orgURL))
        guard let id = answer["id"]?.stringValue, !id.isEmpty else {
            throw DeviceAuthenticatorError.genericError("Failed to fetch organization data")
        }
        try await checkUnclaimed(id)
        return id
    }

    /// Checks that no other org on this device has the id. A hostile org could claim another org's id to replace that org's enrollments,
    /// keys and policy.
    private func checkUnclaimed(_ organizationID: String) async throws {
        let (records, failures) = try await device.store.run { try $0.enrollments() }
        if let failure = failures.first { throw failure }
        guard let other = records.first(where: { $0.organizationID == organizationID && $0.organizationURL != config.orgURL }) else {
            return
        }
        throw DeviceAuthenticatorError.genericError(
            "The organization at \(config.orgURL.absoluteString) has the id of the one at \(other.organizationURL.absoluteString), where this "
                + "device is enrolled. If it has moved, delete the old account from this device and enroll again.")
    }

    private func makeKeys(_ tags: Tags) async throws -> Keys {
        let possession = try await device.store.run { [keys = device.keys] _ in try keys.makeKey(tag: tags.possession) }
        var keys = Keys(possessionTag: tags.possession, possession: possession)
        if parameters.userVerification == true {
            keys.verification = try await device.makeVerificationKey(
                tag: tags.verification, flags: parameters.userVerificationSettings.accessControlFlags)
            keys.verificationTag = tags.verification
        }
        return keys
    }

    private func identity(_ organizationID: String, newTag: String) async throws -> Identity {
        guard let known = try await device.store.run({ try $0.device(of: organizationID) }) else {
            return try await newIdentity(tag: newTag)
        }
        let attestation = ClientToken(
            type: "", keyTag: known.clientInstanceKeyTag, issuer: known.clientInstanceID, audience: config.orgURL.absoluteString,
            subject: known.deviceID, now: device.clock.now(at: config.orgURL), randomness: device.randomness)
        do {
            return .known(known, attestation: try await device.store.run { [keys = device.keys] _ in try attestation.signed(by: keys) })
        } catch let error as StorageError where error == .deviceLocked {
            // The key still exists.
            throw error
        } catch {
            // Without the key, this installation cannot prove that it is the known device.
            device.log.warning("clientInstanceKey", "The key of this installation can't be used; it enrolls as a new device")
            return try await newIdentity(tag: newTag)
        }
    }

    private func newIdentity(tag: String) async throws -> Identity {
        .new(tag: tag, key: try await device.store.run { [keys = device.keys] _ in try keys.makeKey(tag: tag) })
    }

    private func post(_ identity: Identity, _ keys: Keys, _ metadata: AuthenticatorMetadata) async throws -> EnrollmentAnswer {
        let body: JSONValue = [
            "authenticatorId": .string(metadata.authenticatorID), "device": deviceBody(identity), "methods": ["push": pushBody(keys)],
        ]
        let request = OrgRequests.enroll(at: metadata.enrollEndpoint, body: body, token: token)
        return try EnrollmentAnswer(try await device.transport.json(request), organization: config.orgURL)
    }

    private func deviceBody(_ identity: Identity) -> JSONValue {
        var body = device.description.enrollmentMembers
        switch identity {
        case .new(let tag, let key): body["clientInstanceKey"] = key.jwk(tag: tag, isHardwareBacked: device.keys.isHardwareBacked)
        case .known(let record, let attestation):
            body["id"] = .string(record.deviceID)
            body["clientInstanceId"] = .string(record.clientInstanceID)
            body["deviceAttestation"] = ["clientInstanceKeyAttestation": .string(attestation)]
        }
        return body
    }

    private func pushBody(_ keys: Keys) -> JSONValue {
        let isHardwareBacked = device.keys.isHardwareBacked
        var jwks: JSONValue = ["proofOfPossession": keys.possession.jwk(tag: keys.possessionTag, isHardwareBacked: isHardwareBacked)]
        // `userVerification` is absent if the app did not choose, and null if the app declined (Documentation/Protocol/Devices.md §2.5.1).
        if let tag = keys.verificationTag, let key = keys.verification {
            jwks["userVerification"] = key.jwk(tag: tag, isHardwareBacked: isHardwareBacked)
        } else if parameters.userVerification == false {
            jwks["userVerification"] = .null
        }
        return [
            "pushToken": .string(parameters.deviceToken.wireValue), "apsEnvironment": .string(device.apsEnvironment),
            // `numberChallenge` is an extension of this project: the phone can ask for the number that a sign-in shows.
            "capabilities": ["transactionTypes": JSONValue(transactionTypes.names), "numberChallenge": true], "keys": jwks,
        ]
    }

    private var transactionTypes: TransactionType { parameters.isCIBAEnabled ? [.login, .ciba] : [.login] }

    private func store(_ record: EnrollmentRecord, _ deviceRecord: DeviceRecord, _ policy: PolicyRecord) async throws {
        do {
            let failures = try await device.store.run { try $0.insert(record, device: deviceRecord, policy: policy) }
            for failure in failures {
                device.log.warning("storage", "Part of the older enrollment can't be deleted: \(technicalText(of: failure))")
            }
        } catch {
            // Deletes the enrollment on the server. Otherwise the server would send challenges to a device without the enrollment.
            do {
                _ = try await device.transport.send(OrgRequests.delete(record.id, of: record.organizationURL, token: token))
            } catch {
                device.log.warning("enroll", "The server keeps the enrollment \(record.id), which could not be stored here")
            }
            throw error
        }
    }

    private func record(_ answer: EnrollmentAnswer, _ organizationID: String, _ keys: Keys) -> EnrollmentRecord {
        let now = device.clock.device.now
        return EnrollmentRecord(
            id: answer.id, organizationID: organizationID, organizationURL: config.orgURL, clientID: config.oidcClientId,
            authenticatorID: answer.authenticatorID, userID: answer.userID, userName: answer.userName, deviceID: answer.deviceID,
            clientInstanceID: answer.clientInstanceID, methodID: answer.methodID, pendingLink: answer.pendingLink,
            possessionKeyTag: keys.possessionTag, verificationKeyTag: keys.verificationTag,
            verificationFlags: keys.verificationTag == nil ? nil : parameters.userVerificationSettings.accessControlFlags.bits,
            transactionTypes: transactionTypes.rawValue, serverErrorCode: nil, createdAt: answer.createdAt ?? now, updatedAt: now)
    }

    private func deviceRecord(_ identity: Identity, _ answer: EnrollmentAnswer, _ organizationID: String) -> DeviceRecord {
        let tag =
            switch identity {
            case .new(let tag, _): tag
            case .known(let record, _): record.clientInstanceKeyTag
            }
        return DeviceRecord(
            organizationID: organizationID, deviceID: answer.deviceID, clientInstanceID: answer.clientInstanceID, clientInstanceKeyTag: tag)
    }
}
