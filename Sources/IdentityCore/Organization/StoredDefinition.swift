internal import Store

extension Engine {
    /// Returns the configuration in the store as a definition. Its users are those of the org file, as the file last defined them, ordered
    /// by login. They have no password and no secret of an authenticator app. Their HOTP devices have an empty seed and the counter 0,
    /// because the store does not keep the counter of the file. Throws ``StoreError``, also without an organization or with another master
    /// key.
    package func storedDefinition() async throws -> OrganizationDefinition {
        try await store.read { [self] view in
            var definition = try snapshot(view).organization
            definition.users = try view.records(.user, where: "origin", is: RecordOrigin.file.rawValue, limit: 1_000_000)
                .compactMap { try StoredUser($0).definition(view) }
                .sorted { $0.login < $1.login }
            return definition
        }
    }
}

extension StoredUser {
    /// Returns the user as the org file last defined them, without secrets; `nil` if the file no longer names the user.
    fileprivate func definition(_ view: any StoreView) throws -> UserDefinition? {
        guard let applied else { return nil }
        var definition = applied.definition
        // Records of earlier versions do not say which device the file added.
        if applied.deviceTag != nil,
            let device = try view.enrollments(of: value.id).first(where: { $0.hotp != nil && $0.id == applied.deviceID ?? $0.id })?.hotp
        {
            definition.hardwareDevice = UserDefinition.HardwareDevice(secret: "", credentialID: device.credentialID)
        }
        return definition
    }
}
