import AuthFoundation
import Foundation

/// The server has turned to another device of the person.
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
    let expiresIn: TimeInterval
    /// Seconds between two requests; needed only where there is polling.
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
        expiresIn = try container.decode(Double.self, forKey: .expiresIn)
        interval = try container.decodeIfPresent(Double.self, forKey: .interval)
        channel = try container.decodeIfPresent(String.self, forKey: .channel).flatMap(DirectAuthenticationFlow.OOBChannel.init(rawValue:))
        bindingMethod = try container.decode(BindingMethod.self, forKey: .bindingMethod)
        // The API's own sample has a number.
        let text: String?
        if let number = try? container.decodeIfPresent(Int.self, forKey: .bindingCode) {
            text = String(number)
        } else {
            text = try container.decodeIfPresent(String.self, forKey: .bindingCode)
        }
        bindingCode = text?.isEmpty == false ? text : nil
    }
}
