import AuthFoundation
import Foundation

/// A challenge that the server sent to another device of the user (oauth reference 2.5).
/// The code, its lifetime and the binding method are required. Numbers may be strings, and the binding code may be a number. Other invalid
/// values count as missing, and unknown members are ignored.
struct OutOfBandChallenge: Decodable, Equatable, Sendable {
    /// The way in which the two devices are bound to the same sign-in.
    enum BindingMethod: String, Decodable, Sendable {
        /// No binding. The user only approves.
        case none
        /// The user enters here the code that the other device received.
        case prompt
        /// The user selects on the other device the code that is shown here.
        case transfer
    }

    let code: String
    /// The lifetime in seconds, from 0 (already expired) to 3600.
    let expiresIn: TimeInterval
    /// The polling interval in seconds. Required only for polling.
    let interval: TimeInterval?
    let channel: DirectAuthenticationFlow.OOBChannel?
    let bindingMethod: BindingMethod
    let bindingCode: String?

    private enum CodingKeys: String, CodingKey {
        case code = "oob_code"
        case expiresIn = "expires_in"
        case interval, channel
        case bindingMethod = "binding_method"
        case bindingCode = "binding_code"
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        code = try container.decode(String.self, forKey: .code)
        guard !code.isEmpty else { throw ClaimError.missingRequiredValue(key: CodingKeys.code.rawValue) }
        guard let lifetime = container.seconds(.expiresIn) else {
            throw ClaimError.missingRequiredValue(key: CodingKeys.expiresIn.rawValue)
        }
        expiresIn = min(max(lifetime, 0), ApprovalWait<DirectAuthenticationFlow.Status>.longestLifetime)
        interval = container.seconds(.interval)
        channel = container.text(.channel).flatMap(DirectAuthenticationFlow.OOBChannel.init(rawValue:))
        bindingMethod = try container.decode(BindingMethod.self, forKey: .bindingMethod)
        // The sample in the API documentation has a number.
        bindingCode = container.text(.bindingCode) ?? (try? container.decode(Int.self, forKey: .bindingCode)).map(String.init)
    }
}
