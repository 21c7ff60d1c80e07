public import Foundation

/// Called while a sign-in waits for a phone, with the number to pick there, or `nil`.
public typealias WaitingForApproval = @MainActor @Sendable (_ number: String?) -> Void

/// Lets this device approve sign-ins: enrolls it, fetches pending requests, and answers them. All errors have texts for users.
public protocol AuthenticatorServicing: Sendable {
    /// Returns the accounts on this device. Throws if they cannot be read.
    func accounts() throws -> [Account]
    /// Signs in and enrolls this device. Throws if either fails.
    func enroll(_ form: SignInForm, userVerification: Bool, waiting: @escaping WaitingForApproval) async throws -> Account
    /// Enrolls this device with the QR code of a sign-in page. Throws if the code is invalid or has expired.
    func enroll(link: String, userVerification: Bool) async throws -> Account
    /// Signs in and turns user verification on or off. Throws if either fails.
    func setUserVerification(_ isOn: Bool, of id: Account.ID, _ form: SignInForm, waiting: @escaping WaitingForApproval) async throws
    /// Turns requests without a sign-in on or off; this needs no sign-in. Throws if it fails.
    func setCIBA(_ isOn: Bool, of id: Account.ID) async throws
    /// Signs in and removes an account at the organization, and then on this device. Throws if either fails; the account then stays.
    func remove(_ id: Account.ID, _ form: SignInForm, waiting: @escaping WaitingForApproval) async throws
    /// Removes an account on this device alone. Throws if it cannot be deleted.
    func removeFromDevice(_ id: Account.ID) async throws
    /// Sends this device's new push token to each organization. Throws the first failure, after all requests.
    func updatePushToken(_ token: Data) async throws
    /// Fetches the pending requests of each account.
    func retrieve() async -> Retrieved
    /// Reads the payload of a push; `nil` if it does not belong to a sign-in. Throws if it is invalid or for an unknown account.
    func read(push: PushPayload) async throws -> ApprovalRequest?
    /// Answers a request. Returns a warning if the answer was accepted with a problem. Throws if the answer did not count.
    func answer(_ id: ApprovalRequest.ID, _ answer: Answer) async throws -> String?
    /// Waits until the requests of cancelled sign-ins are withdrawn.
    func settled() async
}

/// The pending requests after a fetch.
public struct Retrieved: Sendable {
    /// The pending requests, oldest first. For accounts that could not be fetched, the earlier ones.
    public let requests: [ApprovalRequest]
    /// The failure of the first account that could not be fetched; `nil` if all could.
    public let failure: (any Error)?

    /// Creates the result of a fetch.
    ///
    /// - Parameters:
    ///   - requests: The pending requests in any order.
    ///   - failure: The reason if the requests are incomplete.
    public init(_ requests: [ApprovalRequest], failure: (any Error)? = nil) {
        self.requests = requests.sorted { $0.time < $1.time }
        self.failure = failure
    }
}

/// The payload of a push, and the action that the user chose on the notification.
///
/// Invariant that makes `@unchecked Sendable` safe: the dictionary is an immutable copy of values that the system read from JSON: strings, numbers,
/// arrays and dictionaries.
public struct PushPayload: @unchecked Sendable {
    let userInfo: [AnyHashable: Any]
    let action: String?

    /// Wraps a payload.
    ///
    /// - Parameters:
    ///   - userInfo: The payload.
    ///   - action: The identifier of the chosen action; `nil` for none.
    public init(_ userInfo: [AnyHashable: Any], action: String? = nil) {
        self.userInfo = userInfo
        self.action = action
    }
}
