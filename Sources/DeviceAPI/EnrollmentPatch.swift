internal import IdentityCore
internal import JOSE

/// A change of an enrollment as a merge patch (RFC 7396; Documentation/Protocol/Devices.md §2.6). An absent member (`nil`) stays unchanged.
/// Unknown members are rejected, because the sender would believe that they have an effect.
struct EnrollmentPatch: Sendable {
    enum KeyChange: Sendable, Equatable { case set(DeviceKey), remove }

    var pushToken: String?
    var transactionTypes: [PushMethod.TransactionType]?
    var answersNumbers: Bool?
    var userVerification: KeyChange?

    /// Reads a body. Throws `E0000003` if it is not an object, and `E0000001` for an unknown or invalid member.
    init(_ body: JSONValue) throws(DeviceRefusal) {
        guard let members = body.objectValue else { throw .malformed("patch is no object") }
        try Self.checkMembers(members, ["methods"], of: "")
        guard let methods = members["methods"] else { return }
        let push = try PushMethodFields.object(methods["push"], name: "methods.push")
        try Self.checkMembers(methods.objectValue ?? [:], ["push"], of: "methods.")
        try Self.checkMembers(push, ["pushToken", "capabilities", "keys"], of: "methods.push.")
        if let token = push["pushToken"] { pushToken = try PushMethodFields.pushToken(token) }
        if let value = push["capabilities"] {
            let capabilities = try PushMethodFields.object(value, name: "methods.push.capabilities")
            try Self.checkMembers(capabilities, ["transactionTypes", "numberChallenge"], of: "methods.push.capabilities.")
            transactionTypes = try capabilities["transactionTypes"].map(PushMethodFields.transactionTypes)
            answersNumbers = try capabilities["numberChallenge"].map(PushMethodFields.answersNumbers)
        }
        if let value = push["keys"] {
            let keys = try PushMethodFields.object(value, name: "methods.push.keys")
            try Self.checkMembers(keys, ["userVerification"], of: "methods.push.keys.")
            let name = "methods.push.keys.userVerification"
            userVerification = try keys["userVerification"].map { value throws(DeviceRefusal) in
                value.isNull ? .remove : .set(try DeviceKey(value, name: name))
            }
        }
    }

    /// The accepted scopes; an access token must have one of them.
    var scopes: Set<String> {
        userVerification == nil ? [DeviceScope.manage, DeviceScope.maintenanceManage] : [DeviceScope.manage]
    }

    /// The names of the changed members, for the log.
    var names: [String] {
        [
            pushToken.map { _ in "pushToken" }, transactionTypes.map { _ in "transactionTypes" },
            answersNumbers.map { _ in "numberChallenge" },
            userVerification.map { $0 == .remove ? "userVerification removed" : "userVerification" },
        ].compactMap { $0 }
    }

    private static func checkMembers(_ object: [String: JSONValue], _ known: Set<String>, of path: String) throws(DeviceRefusal) {
        let unknown = object.keys.filter { !known.contains($0) }.sorted()
        guard unknown.isEmpty else {
            throw .invalid(
                path.isEmpty ? "enrollment" : String(path.dropLast()),
                ["These members can not be changed: \(unknown.prefix(10).map { path + $0.prefix(100) }.joined(separator: ", "))."],
                reason: "patch has members that can not be changed")
        }
    }
}
