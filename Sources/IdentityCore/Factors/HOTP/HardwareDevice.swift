internal import Foundation

extension Engine {
    /// Assigns an HOTP device (RFC 4226) to a user, by its seed. The device replaces the user's earlier device, and is removed from other
    /// users. Consumed codes stay consumed. Returns the enrollment's id; `nil` if there is no such user, or an argument is out of range.
    /// - Parameters:
    ///   - secret: The seed, at least 16 bytes; encrypted in the store.
    ///   - credentialID: The identifier of the device, such as its serial number: 1 to 100 bytes.
    ///   - counter: The counter of the device's next code, at least 0; raised to the highest counter known for this seed.
    package func assignHardwareDevice(
        secret: [UInt8], credentialID: String, counter: Int64 = 0, userID: String, context: RequestContext
    ) async throws -> String? {
        guard secret.count >= TimeBasedCode.shortestSecret, (1...100).contains(credentialID.utf8.count), (0...Int64.max >> 1) ~= counter
        else { return nil }
        return try await transact(context) { [self] reading -> (id: String, Writes)? in
            guard let user = try user(id: userID, in: reading.view) else { return nil }
            let own = try reading.view.enrollments(of: userID).filter { $0.hotp != nil }
            let derivedKeys = try reading.snapshot.derivedKeys
            var counters = DeviceCounters(reading.view, environment: environment, derivedKeys: derivedKeys)
            let others = try counters.devices(ofSeed: secret, notOf: userID)
            var writes = Writes(try (own + others).flatMap { try counters.take($0) } + counters.changes())
            for other in others { writes.log("user.mfa.factor.deactivate", .success, reason: "hotp", userID: other.userID) }
            let device = try Enrollment(
                hardwareDevice: secret, credentialID: credentialID, counter: counters.start(counter, ofSeed: secret), of: userID,
                environment: environment, derivedKeys: derivedKeys, now: context.now)
            return (device.id, writes + (try user.enrolling(device, reason: "hotp")))
        } decide: { planned in
            planned.map { Plan($0.id, $0.1) } ?? Plan(nil)
        }
    }
}

extension Enrollment {
    init(
        hardwareDevice secret: [UInt8], credentialID: String, counter: Int64, of userID: String, environment: EngineEnvironment,
        derivedKeys: DerivedKeys, now: Date
    ) throws {
        let id = try environment.random.identifier(prefix: "uft")
        let method = try HOTPMethod(
            sealing: secret, forEnrollment: id, credentialID: credentialID, counter: counter, environment: environment,
            derivedKeys: derivedKeys)
        self.init(id: id, userID: userID, method: .hotp(method), status: .active, createdAt: now)
    }
}
