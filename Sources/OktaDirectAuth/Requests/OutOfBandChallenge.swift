import AuthFoundation
import Foundation

/// The server has turned to another device of the person (oauth reference 2.5).
///
/// What can't be waited for without is required: the code, when it expires, how the devices are tied together. Numbers may come as strings,
/// the number to pick as a number. What can't be read of the rest counts as missing, and further members are passed over.
struct OutOfBandChallenge: Decodable, Equatable, Sendable {
    /// How this device and the other are tied together.
    enum BindingMethod: String, Decodable, Sendable {
        /// Not at all: the person approves.
        case none
        /// The person types here what came there.
        case prompt
        /// The person picks there what is shown here.
        case transfer
    }

    let code: String
    /// For how many seconds it can be answered: from zero, if it has expired already, to an hour.
    let expiresIn: TimeInterval
    /// Seconds between two requests, as the server has it; needed only where there is polling.
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
        // The API's own sample has a number.
        bindingCode = container.text(.bindingCode) ?? (try? container.decode(Int.self, forKey: .bindingCode)).map(String.init)
    }
}
