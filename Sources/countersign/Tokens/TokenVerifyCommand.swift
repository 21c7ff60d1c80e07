import ArgumentParser
import Foundation
import JOSE
import ResourceServer

struct TokenVerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Verify the access token on the standard input as a resource server would.")

    @Option(help: ArgumentHelp("The issuer; the token's own claim is not enough.", valueName: "url"))
    var issuer: String

    @Option(help: ArgumentHelp("The audience.", valueName: "audience"))
    var audience = "api://default"

    @Option(name: .customLong("client-id"), help: ArgumentHelp("The client that the token must have been given to.", valueName: "id"))
    var clientID: String?

    @Option(name: .customLong("scope"), help: ArgumentHelp("A scope that the token must have; may be repeated.", valueName: "scope"))
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
