internal import DeviceAuthenticator
internal import Foundation
internal import HTTPTypes
internal import JOSE

/// The calls of the control API below `/sandbox/phones`.
struct PhoneCalls: Sendable {
    private let commands: PhoneCommands

    init(_ phones: VirtualPhones) {
        commands = PhoneCommands(phones: phones)
    }

    /// Answers a call.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path below `/sandbox/`, as it was written.
    ///   - body: The body, read only if the call has one.
    /// - Returns: The answer; nil if there is no such call or phone.
    /// - Throws: Errors of the phone, ``ControlBody/Invalid``, and errors of reading the body.
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

    /// What a failure is answered with: it is the phone's, not the control API's.
    static func answer(to error: any Error) -> JSONValue? {
        switch error {
        case let error as PhoneError: ["error": .string(error.message), "code": .string(error.code.rawValue)]
        case let error as DeviceAuthenticatorError:
            ["error": .string(VirtualPhone.text(of: error)), "code": .string(error.reason.rawValue)]
        default: nil
        }
    }
}
