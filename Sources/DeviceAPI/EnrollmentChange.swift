internal import Foundation
internal import IdentityCore
internal import JOSE
internal import Store

extension EnrolledDevice {
    /// Returns the enrollment after a patch. Throws ``DeviceRefusal`` if the caller has no permission, or the authenticator forbids the
    /// change.
    func applying(_ patch: EnrollmentPatch, _ caller: DeviceCaller, _ directory: DeviceDirectory) throws -> Enrollment {
        var method = method
        if let token = patch.pushToken {
            method.pushToken = token
            method.isTokenDead = false
            method.tokenSetAt = directory.now
        }
        method.transactionTypes = patch.transactionTypes ?? method.transactionTypes
        method.answersNumbers = patch.answersNumbers ?? method.answersNumbers
        switch patch.userVerification {
        case nil: break
        case .set(let key): method.userVerification = try registering(key, caller, directory)
        case .remove:
            guard authenticator?.userVerification != .required else { throw DeviceRefusal.userVerificationRequired() }
            if method.userVerification != nil {
                try EnrollmentPermission(caller, directory).checkTaking(from: enrollment, signedBy: .userVerification)
            }
            method.userVerification = nil
        }
        var changed = enrollment
        changed.method = .push(method)
        changed.updatedAt = directory.now
        return changed
    }

    /// Returns the user verification key to store: the current key if the app sends it again, otherwise the new key. Throws
    /// ``DeviceRefusal``.
    private func registering(_ key: DeviceKey, _ caller: DeviceCaller, _ directory: DeviceDirectory) throws -> JSONValue {
        let current = DeviceKey(stored: method.userVerification)
        if let current, key.id == current.id {
            guard key.thumbprint == current.thumbprint else {
                throw DeviceRefusal.invalid("methods.push.keys.userVerification", ["Another key has this id (kid) already. Use a new one."])
            }
            return current.json
        }
        guard let authenticator, authenticator.isActive, caller.grant == nil || authenticator.clientID == caller.clientID else {
            throw DeviceRefusal.notFound("authenticator", reason: "authenticator is removed, off, or linked to another client")
        }
        try EnrollmentPermission(caller, directory).checkAddingKey(to: enrollment)
        try DeviceKey.checkDifferent([
            DeviceKey(stored: device.clientInstanceKey), DeviceKey(stored: method.proofOfPossession), key,
        ])
        return key.json
    }
}
