import ArgumentParser
import AuthFoundation
import Foundation
import JOSE
import ResourceServer

struct TokenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Print the tokens of a credential, decode and verify JSON Web Tokens.",
        subcommands: [TokenPrintCommand.self, TokenDecodeCommand.self, TokenVerifyCommand.self])
}

/// Reads a token from the standard input, because other processes can see arguments.
enum TokenInput {
    static func read() async throws -> String {
        let text = await withCheckedContinuation { (continuation: CheckedContinuation<String?, Never>) in
            Thread.detachNewThread { continuation.resume(returning: readLine(strippingNewline: true)) }
        }
        let token = (text ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
        guard !token.isEmpty else { throw CommandFailure("Pass the token on standard input: countersign token decode < token.txt") }
        return token
    }

    static func parts(of token: String) throws -> (header: JSONValue, claims: JSONValue) {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = try? JSONValue(parsing: Base64URL.decode(parts[0])),
            let claims = try? JSONValue(parsing: Base64URL.decode(parts[1]))
        else {
            throw CommandFailure(
                "This is not a JSON Web Token, which has three base64url parts separated by dots. Refresh tokens cannot be decoded.")
        }
        return (header, claims)
    }
}

struct TokenDecodeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decode", abstract: "Show the content of the token on standard input without verifying it.")

    @Flag(help: "Write JSON.")
    var json = false

    func run() async throws {
        try await Outcome.of(json: json) {
            let (header, claims) = try TokenInput.parts(of: try await TokenInput.read())
            if json { return Terminal.write(json: ["header": header, "claims": claims]) }
            Terminal.write("\(Terminal.styled("Header", .bold))\n\(Self.text(header))")
            Terminal.write("\(Terminal.styled("Claims (not verified)", .bold))\n\(Self.text(claims))")
        }
    }

    private static func text(_ object: JSONValue) -> TerminalText {
        (object.objectValue ?? [:]).sorted { $0.key < $1.key }.map { name, value -> TerminalText in
            var line: TerminalText = "  \(name)  \(value.serializedString)"
            if ["exp", "iat", "nbf", "auth_time", "updated_at"].contains(name),
                let date = value.doubleValue.flatMap(Date.init(numericDate:))
            {
                line = "\(line)  (\(date.formatted(.iso8601)))"
            }
            return line
        }.joined(separator: "\n")
    }
}

struct TokenPrintCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "print", abstract: "Write the access token of a credential, for use with curl.",
        discussion: """
            An expired token is refreshed first. A token is a secret: pass it on by a pipe or a variable, and never in a file that others read.

              curl -H "Authorization: Bearer $(countersign token print)" https://api.example.com/messages
            """)

    /// The kinds of tokens that the command writes. A refresh token is not offered, because only the issuer needs it.
    enum Kind: String, ExpressibleByArgument, CaseIterable {
        case access, id
    }

    @OptionGroup var options: CredentialOptions

    @Option(help: ArgumentHelp("The token: access or id.", valueName: "kind"))
    var type = Kind.access

    func run() async throws {
        try await options.use { credential in
            if credential.token.isExpired { try await credential.refresh() }
            let token = credential.token
            switch type {
            case .access:
                options.tell(
                    "\(token.accessToken)", json: ["access_token": .string(token.accessToken), "token_type": .string(token.tokenType)])
            case .id:
                guard let idToken = token.idToken else {
                    throw CommandFailure("The credential has no ID token. Sign in with the scope openid.")
                }
                options.tell("\(idToken.rawValue)", json: ["id_token": .string(idToken.rawValue)])
            }
        }
    }
}

struct TokenVerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Verify the access token on standard input like a resource server.")

    @Option(help: ArgumentHelp("The issuer; the token's own claim is not enough.", valueName: "url"))
    var issuer: String

    @Option(help: ArgumentHelp("The audience.", valueName: "audience"))
    var audience = "api://default"

    @Option(name: .customLong("client-id"), help: ArgumentHelp("The client id that the token must contain.", valueName: "id"))
    var clientID: String?

    @Option(name: .customLong("scope"), help: ArgumentHelp("A required scope; can be repeated.", valueName: "scope"))
    var scopes: [String] = []

    @Flag(help: "Write JSON.")
    var json = false

    func run() async throws {
        try await Outcome.of(json: json) {
            let token = try await TokenInput.read()
            let verifier = AccessTokenVerifier(
                AccessTokenVerifier.Configuration(issuer: issuer, clientID: clientID, audience: audience, requiredScopes: scopes))
            do {
                let verified = try await verifier.verify(token)
                if json {
                    Terminal.write(json: ["valid": true, "claims": .object(verified.claims)])
                } else {
                    Terminal.write("\(Terminal.styled("Valid", .green)) until \(verified.expiresAt.formatted(.iso8601)).")
                }
            } catch let error as AccessTokenError {
                if json {
                    Terminal.write(json: ["valid": false, "code": .string(error.code.rawValue), "error": .string(error.message)])
                } else {
                    Terminal.note("\(Terminal.styled("Not valid", .red)): \(error.message)")
                }
                throw ExitCode(error.code == .issuerUnavailable ? 3 : 2)
            }
        }
    }
}
