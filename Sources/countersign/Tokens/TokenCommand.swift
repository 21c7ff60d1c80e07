import ArgumentParser
import Foundation
import JOSE

/// Looks at tokens.
struct TokenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Print the tokens of a credential, decode and verify JSON Web Tokens.",
        subcommands: [TokenPrintCommand.self, TokenDecodeCommand.self, TokenVerifyCommand.self])
}

/// A token from the command line's standard input: arguments are seen by every process of the machine.
enum TokenInput {
    static func read() async throws -> String {
        let text = await withCheckedContinuation { (continuation: CheckedContinuation<String?, Never>) in
            Thread.detachNewThread { continuation.resume(returning: readLine(strippingNewline: true)) }
        }
        let token = (text ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
        guard !token.isEmpty else { throw CommandFailure("Give the token on the standard input: countersign token decode < token.txt") }
        return token
    }

    static func parts(of token: String) throws -> (header: JSONValue, claims: JSONValue) {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = try? JSONValue(parsing: Base64URL.decode(parts[0])),
            let claims = try? JSONValue(parsing: Base64URL.decode(parts[1]))
        else {
            throw CommandFailure("This is no JSON Web Token: three parts in base64url, separated by dots. Refresh tokens can't be decoded.")
        }
        return (header, claims)
    }
}
