internal import IdentityCore
internal import JOSE

/// Reads the members of `methods.push` that an enrollment and a patch have in common (Documentation/Protocol/Devices.md §2.5.1 and §2.6).
enum PushMethodFields {
    /// The maximum length of a push token, in characters.
    private static let longestToken = 512

    /// Reads a push token in hexadecimal. The token is empty if the app has none.
    static func pushToken(_ value: JSONValue?) throws(DeviceRefusal) -> String {
        let name = "methods.push.pushToken"
        guard let text = value?.stringValue else {
            throw .invalid(name, ["The push token must be a text; empty as long as there is none."])
        }
        let isHexadecimal = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"): true
            default: false
            }
        }
        guard isHexadecimal, text.utf8.count.isMultiple(of: 2), text.utf8.count <= longestToken else {
            throw .invalid(name, ["The push token is written in hexadecimal, two digits a byte, at most \(longestToken) digits."])
        }
        return text.lowercased()
    }

    static func environment(_ value: JSONValue?) throws(DeviceRefusal) -> PushMethod.Environment {
        guard let environment = value?.stringValue.flatMap({ PushMethod.Environment(rawValue: $0.lowercased()) }) else {
            throw .invalid("methods.push.apsEnvironment", ["The environment is production or development."])
        }
        return environment
    }

    /// Reads the transaction types. `LOGIN` is required, because a device that answers no sign-in is not a factor.
    static func transactionTypes(_ value: JSONValue) throws(DeviceRefusal) -> [PushMethod.TransactionType] {
        let name = "methods.push.capabilities.transactionTypes"
        guard let names = value.stringArrayValue, names.count <= 10 else {
            throw .invalid(name, ["The transaction types are a list of texts."])
        }
        let types = names.compactMap(PushMethod.TransactionType.init(rawValue:))
        guard types.count == names.count, types.contains(.login) else {
            throw .invalid(name, [#"The transaction types are ["LOGIN"] or ["LOGIN","CIBA"]."#])
        }
        return types.contains(.ciba) ? [.login, .ciba] : [.login]
    }

    static func answersNumbers(_ value: JSONValue) throws(DeviceRefusal) -> Bool {
        guard let flag = value.boolValue else { throw .invalid("methods.push.capabilities.numberChallenge", ["Write true or false."]) }
        return flag
    }

    static func object(_ value: JSONValue?, name: String) throws(DeviceRefusal) -> [String: JSONValue] {
        guard let object = value?.objectValue else { throw .invalid(name, ["\(name) must be an object."]) }
        return object
    }
}
