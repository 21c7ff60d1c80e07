public import Foundation

/// A function that is called while a sign-in waits for a phone. `number` is the number to pick on the phone; `nil` for none.
public typealias WaitingForApproval = @MainActor @Sendable (_ number: String?) -> Void

/// A service with which this device approves sign-ins: it enrolls the device, fetches pending requests, and answers them. All errors have
/// texts for users.
public protocol AuthenticatorServicing: Sendable {
    /// Returns the accounts on this device. Throws if the accounts cannot be read.
    func accounts() throws -> [Account]
    /// Signs in and enrolls this device. Throws if the sign-in or the enrollment fails.
    func enroll(_ form: SignInForm, userVerification: Bool, waiting: @escaping WaitingForApproval) async throws -> Account
    /// Enrolls this device with the QR code of a sign-in page. Throws if the code is invalid or has expired.
    func enroll(link: String, userVerification: Bool) async throws -> Account
    /// Signs in and turns user verification on or off. Throws if the sign-in or the change fails.
    func setUserVerification(_ isOn: Bool, of id: Account.ID, _ form: SignInForm, waiting: @escaping WaitingForApproval) async throws
    /// Turns requests without a sign-in on or off. The change itself needs no sign-in. Throws if the change fails.
    func setCIBA(_ isOn: Bool, of id: Account.ID) async throws
    /// Signs in and removes an account at the organization, then on this device. Throws if the sign-in or the removal fails; the account
    /// then stays.
    func remove(_ id: Account.ID, _ form: SignInForm, waiting: @escaping WaitingForApproval) async throws
    /// Removes an account from this device only. Throws if the account cannot be deleted.
    func removeFromDevice(_ id: Account.ID) async throws
    /// Sends this device's new push token to each organization. Throws the first failure after all requests have been sent.
    func updatePushToken(_ token: Data) async throws
    /// Fetches the pending requests of each account.
    func retrieve() async -> Retrieved
    /// Reads the payload of a push. Returns `nil` if the push is not a request. Throws if the request is invalid or for an unknown account.
    func read(push: PushPayload) async throws -> ApprovalRequest?
    /// Answers a request. Returns a warning if the answer was accepted with a problem; `nil` without a problem. Throws if the answer was
    /// not accepted.
    func answer(_ id: ApprovalRequest.ID, _ answer: Answer) async throws -> String?
    /// Waits until the requests of cancelled sign-ins are withdrawn.
    func settled() async
}

/// The pending requests after a fetch.
public struct Retrieved: Sendable {
    /// The pending requests, oldest first. For accounts that could not be fetched, they are the requests of the previous fetch.
    public let requests: [ApprovalRequest]
    /// The failure of the first account that could not be fetched; `nil` if all accounts were fetched.
    public let failure: (any Error)?

    /// Creates the result of a fetch.
    ///
    /// - Parameters:
    ///   - requests: The pending requests in any order.
    ///   - failure: The reason why the requests are incomplete; `nil` if they are complete.
    public init(_ requests: [ApprovalRequest], failure: (any Error)? = nil) {
        self.requests = requests.sorted { $0.time < $1.time }
        self.failure = failure
    }
}

/// The payload of a push, and the action that the user chose on the notification.
///
/// `@unchecked Sendable` is safe because the dictionary is an immutable copy of values that the system read from JSON.
public struct PushPayload: @unchecked Sendable {
    let userInfo: [AnyHashable: Any]
    let action: String?

    /// Creates a payload.
    ///
    /// - Parameters:
    ///   - userInfo: The payload.
    ///   - action: The identifier of the chosen action; `nil` for none.
    public init(_ userInfo: [AnyHashable: Any], action: String? = nil) {
        self.userInfo = userInfo
        self.action = action
    }
}
