import AuthFoundation
import Foundation
import Observation
import OktaDirectAuth

/// The app was built without what it needs to sign anybody in.
struct NotConfigured: LocalizedError {
    /// What the module said of the settings.
    let reason: any Error

    var errorDescription: String? { "This app is not configured. \(reason.localizedDescription)" }
}

/// The same for an app that knows passwords only, and that says so when its settings are missing instead of waiting for ever.
@Observable
final class ConfiguredSession {
    enum State: Equatable {
        case signedOut, busy, signedIn
        case failed(String)
    }

    private(set) var state: State = .signedOut
    @ObservationIgnored private var flow: DirectAuthenticationFlow?
    @ObservationIgnored private var problem: (any Error)?

    init() {
        do {
            flow = try DirectAuthenticationFlow()
        } catch {
            problem = error
        }
    }

    var accessToken: String? { Credential.default?.token.accessToken }

    @MainActor
    func signIn(_ user: String, _ password: String) async throws {
        state = .busy
        do {
            guard let flow else { throw NotConfigured(reason: problem ?? OAuth2Error.missingClientConfiguration) }
            switch try await flow.start(user, with: .password(password)) {
            case .success(let token):
                Credential.default = try Credential.store(token)
                state = .signedIn
            default:
                state = .failed("This app knows passwords only.")
            }
        } catch {
            state = .failed(error.localizedDescription)
            throw error
        }
    }
}
