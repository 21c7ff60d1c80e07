import AuthFoundation
import Foundation
import Observation
import OktaDirectAuth

/// An error for an app without its sign-in settings.
struct NotConfigured: LocalizedError {
    /// The module's error for the settings.
    let reason: any Error

    var errorDescription: String? { "This app is not configured. \(reason.localizedDescription)" }
}

/// An app that signs users in with passwords alone, and reports missing settings.
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
