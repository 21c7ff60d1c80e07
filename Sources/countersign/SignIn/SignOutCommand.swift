import ArgumentParser
import AuthFoundation
import BrowserSignin
import Foundation
import JOSE
import OAuth2Auth

struct SignOutCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign-out", abstract: "End the session in the browser, revoke the tokens, and remove the credential.",
        discussion: """
            The command opens the browser only for credentials of `countersign sign-in browser`. If the session cannot be ended, the \
            command still revokes and removes the tokens, and the exit code reports the failure. If you close the browser and press \
            Ctrl-C, the command removes nothing.
            """)

    @OptionGroup var options: CredentialOptions
    @OptionGroup var browser: BrowserUse

    @Flag(name: .customLong("keep-session"), help: "Keep the browser session; only revoke and remove the tokens.")
    var keepsSession = false

    func run() async throws {
        let (browser, keepsSession, json) = (browser, keepsSession, options.json)
        try await options.use { credential in
            let report = try await Interruption.cancels {
                try await Self.signOut(credential, in: browser, keepsSession: keepsSession, json: json)
            }
            if case .failed(let error as BrowserSigninError) = report.session, case .userCancelledLogin = error { throw error }
            options.tell(Self.text(report), json: Self.json(report, credential))
            if case .failed(let error) = report.session { throw error }
            if case .failed(let error) = report.tokens, !error.isMissingRevocationEndpoint { throw error }
        }
    }

    @MainActor
    private static func signOut(
        _ credential: Credential, in browser: BrowserUse, keepsSession: Bool, json: Bool
    ) async throws -> BrowserSignin.SignOutReport {
        var configuration = credential.oauth2.configuration
        let steps: BrowserSignin.SignOutSteps = keepsSession || configuration.logoutRedirectUri == nil ? .tokens : .all
        // The sign-in flow, which is not used here, requires a redirect URI. Credentials from other kinds of sign-in have none.
        configuration.redirectUri = configuration.redirectUri ?? OAuth2Client.Configuration.loopback.signIn
        let signin = try browser.browserSignin(OAuth2Client(configuration), json: json)
        let report = await signin.signOut(credential: credential, ending: steps)
        try Task.checkCancellation()
        return report
    }

    private static func text(_ report: BrowserSignin.SignOutReport) -> TerminalText {
        let session =
            switch report.session {
            case .done: "The session has ended."
            case .skipped: "A browser session, if there is one, was not ended."
            case .failed: "The session could not be ended."
            }
        let tokens =
            switch report.tokens {
            case .done: "The tokens are revoked and removed."
            case .failed(let error) where error.isMissingRevocationEndpoint: Self.withoutRevocation
            case .skipped, .failed: "The tokens are removed here, but not revoked yet."
            }
        return "\(session) \(tokens)"
    }

    /// The message for an issuer without a revocation endpoint.
    static let withoutRevocation =
        "The tokens are removed here. The issuer has no revocation endpoint, so they stay valid until they expire."

    private static func json(_ report: BrowserSignin.SignOutReport, _ credential: Credential) -> JSONValue {
        func word(_ outcome: BrowserSignin.SignOutReport.Outcome) -> JSONValue {
            switch outcome {
            case .done: "done"
            case .skipped: "skipped"
            case .failed(let error): error.isMissingRevocationEndpoint ? "removed" : "failed"
            }
        }
        return ["id": .string(credential.id), "session": word(report.session), "tokens": word(report.tokens)]
    }
}

extension Error {
    /// Whether the issuer has no revocation endpoint (RFC 7009).
    var isMissingRevocationEndpoint: Bool {
        guard case .missingOpenIdConfiguration(attribute: "revocation_endpoint")? = self as? OAuth2Error else { return false }
        return true
    }
}
