public import AuthFoundation
public import OAuth2Auth

extension BrowserSignin {
    /// The parts of a sign-out.
    public struct SignOutSteps: OptionSet, Sendable {
        /// The steps as a bit set.
        public let rawValue: Int

        /// Ends the session at the server, so that the next sign-in asks for the credentials.
        public static let session = SignOutSteps(rawValue: 1 << 0)
        /// Revokes the tokens with `Credential.revoke(type:)` and removes the stored credential, even if the server rejects the revocation.
        public static let tokens = SignOutSteps(rawValue: 1 << 1)
        /// Both steps.
        public static let all: SignOutSteps = [.session, .tokens]

        /// Creates steps from a bit set.
        public init(rawValue: Int) {
            self.rawValue = rawValue
        }
    }

    /// The result of each step of a sign-out.
    public struct SignOutReport: Sendable {
        /// The result of one step.
        public enum Outcome: Sendable {
            /// The step succeeded.
            case done
            /// The step was not requested, or the sign-out ended before it because the user closed the browser session.
            case skipped
            /// The step failed.
            case failed(any Error)

            /// Whether the step succeeded.
            public var isDone: Bool {
                if case .done = self { true } else { false }
            }
        }

        /// The result for the session at the server.
        public var session: Outcome = .skipped

        /// The result for the tokens. If the server was unreachable, the credential is removed locally and the revocation is sent later;
        /// see `Credential.deliverPendingRevocations()`.
        public var tokens: Outcome = .skipped

        /// The first failure, in the order of the steps.
        public var failure: (any Error)? {
            for case .failed(let error) in [session, tokens] { return error }
            return nil
        }
    }

    /// Ends the session at the server, then revokes the tokens, and reports the result of each step. If a step fails, the next one still
    /// runs. Exception: if the user closes the browser session or the task is cancelled, the sign-out stops.
    /// - Parameters:
    ///   - window: The window for the browser session, or `nil` to let the system choose.
    ///   - credential: The credential to sign out.
    ///   - steps: The steps to run.
    ///   - context: The parameters of this sign-out.
    public func signOut(
        from window: WindowAnchor? = nil, credential: Credential, ending steps: SignOutSteps, context: SessionLogoutFlow.Context = .init()
    ) async -> SignOutReport {
        var report = SignOutReport()
        if steps.contains(.session) {
            do {
                try await signOut(from: window, credential: credential, context: context)
                report.session = .done
            } catch {
                report.session = .failed(error)
                if error.isGivingUp { return report }
            }
        }
        if steps.contains(.tokens) {
            do {
                try await credential.revoke()
                report.tokens = .done
            } catch {
                report.tokens = .failed(error)
            }
        }
        return report
    }
}

extension Error {
    /// Whether the user or the app cancelled the operation.
    fileprivate var isGivingUp: Bool {
        if case .userCancelledLogin? = self as? BrowserSigninError { return true }
        return self is CancellationError
    }
}
