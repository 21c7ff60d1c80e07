public import Foundation

/// Called while a sign-in waits for a phone, with the number to pick there, or `nil`.
public typealias WaitingForApproval = @MainActor @Sendable (_ number: String?) -> Void

/// Makes this device approve sign-ins: enrolls it, fetches what waits, and answers. All errors have texts for people.
public protocol AuthenticatorServicing: Sendable {
    /// The accounts on this device. Throws if they can't be read.
    func accounts() throws -> [Account]
    /// Signs in and enrolls this device. Throws if either fails.
    func enroll(_ form: SignInForm, userVerification: Bool, waiting: @escaping WaitingForApproval) async throws -> Account
    /// Enrolls this device by what the QR code of a sign-in page holds. Throws if the code is none, or not good any more.
    func enroll(link: String, userVerification: Bool) async throws -> Account
    /// Signs in and turns user verification on or off. Throws if either fails.
    func setUserVerification(_ isOn: Bool, of id: Account.ID, _ form: SignInForm, waiting: @escaping WaitingForApproval) async throws
    /// Turns requests that no sign-in has begun on or off, without a sign-in. Throws if it fails.
    func setCIBA(_ isOn: Bool, of id: Account.ID) async throws
    /// Signs in and removes an account at the organization, and then here. Throws if either fails; then it stays here.
    func remove(_ id: Account.ID, _ form: SignInForm, waiting: @escaping WaitingForApproval) async throws
    /// Removes an account here alone. Throws if it can't be deleted.
    func removeFromDevice(_ id: Account.ID) async throws
    /// Tells each organization this device's new push token. Throws the first failure, after all were told.
    func updatePushToken(_ token: Data) async throws
    /// Asks the organization of each account for what waits.
    func retrieve() async -> Retrieved
    /// Reads the payload of a push; nil if it is none of a sign-in. Throws if it is one that can't be trusted, or for no account here.
    func read(push: PushPayload) async throws -> ApprovalRequest?
    /// Answers a request; returns what went wrong although the answer was taken, in words. Throws if the answer did not count.
    func answer(_ id: ApprovalRequest.ID, _ answer: Answer) async throws -> String?
    /// Waits until the requests of sign-ins that were given up are taken back.
    func settled() async
}

/// The pending requests after a fetch.
public struct Retrieved: Sendable {
    /// All that waits, oldest first. For an account that could not be asked for, what waited before.
    public let requests: [ApprovalRequest]
    /// Why the first of the accounts that could not be asked for could not; nil if all could.
    public let failure: (any Error)?

    /// Says what waits.
    ///
    /// - Parameters:
    ///   - requests: What waits, in any order.
    ///   - failure: Why not everything is known, if so.
    public init(_ requests: [ApprovalRequest], failure: (any Error)? = nil) {
        self.requests = requests.sorted { $0.time < $1.time }
        self.failure = failure
    }
}

/// The payload of a push, and what the person chose on the notification.
///
/// Invariant that makes `@unchecked Sendable` safe: the dictionary is a copy that nobody changes, of what the system read from JSON: strings,
/// numbers, arrays and dictionaries.
public struct PushPayload: @unchecked Sendable {
    let userInfo: [AnyHashable: Any]
    let action: String?

    /// Takes a payload.
    ///
    /// - Parameters:
    ///   - userInfo: The payload.
    ///   - action: The identifier of the action that the person chose; nil for none.
    public init(_ userInfo: [AnyHashable: Any], action: String? = nil) {
        self.userInfo = userInfo
        self.action = action
    }
}
