import ArgumentParser
import AuthFoundation
import AuthorizationServer
import BrowserSignin
import DeviceAuthenticator
import Foundation
internal import IdentityCore
import JOSE
import OktaAuthSdk
import OktaDirectAuth

/// A failure of the command. The text says what happened and what to do next.
struct CommandFailure: Error, LocalizedError, CustomNSError {
    let text: String

    init(_ text: String) {
        self.text = text
    }

    var errorDescription: String? { text }
}

/// Converts errors into messages and exit codes.
enum Outcome {
    /// Runs the body of a command. Reports errors, which determine the exit code.
    static func of(json: Bool = false, _ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch let error as ExitCode {
            throw error
        } catch let error as CleanExit {
            throw error
        } catch is CancellationError {
            tell("Cancelled.", "Cancelled.", json: json)
            // The exit code that shells report after Ctrl-C.
            throw ExitCode(130)
        } catch {
            tell(explain(error), lines(of: error), json: json)
            throw code(for: error)
        }
    }

    private static func tell(_ text: String, _ lines: TerminalText, json: Bool) {
        if json {
            Terminal.write(json: ["error": .string(text)])
        } else {
            Terminal.note("\(Terminal.styledNote("countersign: ", .red))\(lines)")
        }
    }

    /// Returns the text of an error on one line, because it may come from the issuer. For org files and ports in use, each problem has its
    /// own line.
    private static func lines(of error: any Error) -> TerminalText {
        guard error is OrgFileError || error is OrganizationError || error is PortError else { return TerminalText(explain(error)) }
        return explain(error).split(separator: "\n").map { TerminalText($0) }.joined(separator: "\n")
    }

    /// Returns the text of an error for the terminal. For errors of the client modules it is the technical description, because the user
    /// of a terminal can act on codes and settings.
    static func explain(_ error: any Error) -> String {
        if let error = error as? DeviceAuthenticatorError { return PhoneFailure.text(of: error) }
        if let error = error as? any ClientError { return error.debugDescription }
        if let error = error as? any LocalizedError, let text = error.errorDescription { return text }
        if let error = error as? URLError { return "The issuer can't be reached: \(technicalText(of: error))" }
        return String(describing: error)
    }

    private static func code(for error: any Error) -> ExitCode {
        switch error {
        case is OAuth2ServerError, is JWTError, OAuth2Error.server, DirectAuthenticationFlowError.server, BrowserSigninError.serverError,
            DeviceAuthenticatorError.serverAPIError, OktaError.serverRespondedWithError:
            ExitCode(2)
        case APIClientError.httpError(let inner) where !(inner is URLError): ExitCode(2)
        case is URLError, is APIClientError, OAuth2Error.network, DirectAuthenticationFlowError.network,
            DeviceAuthenticatorError.networkError, OktaError.connectionError:
            ExitCode(3)
        default: .failure
        }
    }
}
