internal import DeviceAuthenticator
internal import Foundation
internal import HTTPTypes
internal import JOSE

/// The control API calls below `/sandbox/phones`.
struct PhoneCalls: Sendable {
    private let commands: PhoneCommands

    init(_ phones: VirtualPhones) {
        commands = PhoneCommands(phones: phones)
    }

    /// Responds to a call; `nil` if the call or the phone is unknown. The path is relative to `/sandbox/` and percent-encoded. `body` is
    /// called only for calls with a body.
    func answer(_ method: HTTPRequest.Method, _ path: String, body: () throws -> ControlBody) async throws -> JSONValue? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).map { $0.removingPercentEncoding ?? String($0) }
        guard parts.first == "phones" else { return nil }
        switch (method, parts.count) {
        case (.get, 1): return ["phones": .array(commands.phones.all.map(\.json))]
        case (.post, 1): return try await commands.add(try body()).json
        default: break
        }
        guard parts.count > 1, let phone = commands.phones.known(parts[1]) else { return nil }
        switch (method, parts.count) {
        case (.get, 2): return phone.json
        case (.delete, 2):
            try await phone.remove()
            return ["phones": .array(commands.phones.all.map(\.json))]
        case (.post, 3): return try await commands.perform(parts[2], on: phone, try body())
        default: return nil
        }
    }

    /// Returns the response to a failure of the phone; `nil` for other errors.
    static func answer(to error: any Error) -> JSONValue? {
        switch error {
        case let error as PhoneError: ["error": .string(error.message), "code": .string(error.code.rawValue)]
        case let error as DeviceAuthenticatorError:
            ["error": .string(VirtualPhone.text(of: error)), "code": .string(error.reason.rawValue)]
        default: nil
        }
    }
}
