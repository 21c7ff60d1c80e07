#if canImport(SwiftUI) && DEBUG
internal import Foundation

/// A service in memory, for previews: a device without accounts.
struct PreviewAuthenticatorService: AuthenticatorServicing {
    func accounts() throws -> [Account] { [] }
    func enroll(_ form: SignInForm, userVerification: Bool, waiting: @escaping WaitingForApproval) async throws -> Account {
        throw SignInTrouble.unknownStep
    }
    func enroll(link: String, userVerification: Bool) async throws -> Account { throw SignInTrouble.unknownStep }
    func setUserVerification(_ isOn: Bool, of id: Account.ID, _ form: SignInForm, waiting: @escaping WaitingForApproval) async throws {}
    func setCIBA(_ isOn: Bool, of id: Account.ID) async throws {}
    func remove(_ id: Account.ID, _ form: SignInForm, waiting: @escaping WaitingForApproval) async throws {}
    func removeFromDevice(_ id: Account.ID) async throws {}
    func updatePushToken(_ token: Data) async throws {}
    func retrieve() async throws -> [ApprovalRequest] { [] }
    func read(push: PushPayload) async throws -> ApprovalRequest? { nil }
    func answer(_ id: ApprovalRequest.ID, _ answer: Answer) async throws -> String? { nil }
}
#endif
