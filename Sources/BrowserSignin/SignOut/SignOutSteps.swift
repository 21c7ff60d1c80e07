public import AuthFoundation
public import OAuth2Auth

extension BrowserSignin {
    /// What a sign-out ends.
    public struct SignOutSteps: OptionSet, Sendable {
        /// The steps as bits.
        public let rawValue: Int

        /// The session at the server, so that the next sign-in asks for the credentials.
        public static let session = SignOutSteps(rawValue: 1 << 0)
        /// The tokens, at the server and here: `Credential.revoke(type:)`. The stored credential is removed whatever the server says.
        public static let tokens = SignOutSteps(rawValue: 1 << 1)
        /// Both.
        public static let all: SignOutSteps = [.session, .tokens]

        /// Makes steps of bits.
        ///
        /// - Parameter rawValue: The bits.
        public init(rawValue: Int) {
            self.rawValue = rawValue
        }
    }

    /// What a sign-out has done, step by step.
    public struct SignOutReport: Sendable {
        /// What became of a step.
        public enum Outcome: Sendable {
            /// It was done.
            case done
            /// It was not asked for, or not come to: the person had closed the browser session before it.
            case skipped
            /// It failed.
            case failed(any Error)

            /// Whether it was done.
            public var isDone: Bool {
                if case .done = self { true } else { false }
            }
        }

        /// The session at the server.
        public var session: Outcome = .skipped

        /// The tokens. If this failed because the server could not be reached, the credential is removed here all the same, and the server
        /// is told later; see `Credential.deliverPendingRevocations()`.
        public var tokens: Outcome = .skipped

        /// The first failure, in the order of the steps.
        public var failure: (any Error)? {
            for case .failed(let error) in [session, tokens] { return error }
            return nil
        }
    }

    /// Signs a person out: ends the session at the server, and then the tokens there and here, and tells of each what happened.
    ///
    /// A step that fails does not keep the next from being done; the person who closes the browser session does, and so does the one who
    /// cancels the task.
    ///
    /// - Parameters:
    ///   - window: Where the browser session is shown; nil for wherever there is place.
    ///   - credential: Whose session and tokens.
    ///   - steps: What to end.
    ///   - context: What the sign-out asks for.
    /// - Returns: What happened.
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
    /// Whether the person, or the app for them, wants it no more.
    fileprivate var isGivingUp: Bool {
        if case .userCancelledLogin? = self as? BrowserSigninError { return true }
        return self is CancellationError
    }
}
