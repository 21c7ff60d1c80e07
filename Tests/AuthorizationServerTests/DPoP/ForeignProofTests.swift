import Foundation
import JOSE
import TestSupport
import Testing

@Suite("DPoP proofs made by joserfc")
struct ForeignProofTests {
    @Test(
        "A DPoP proof made by joserfc obtains a bound token, is accepted once at userinfo and refreshes the token",
        .enabled(if: OutsidePart.python.isEnabled, Comment(rawValue: OutsidePart.python.missingNote)),
        arguments: ["ES256", "ES512", "RS256"])
    func joserfc(algorithm: String) async throws {
        try await RunningServer.with { running in
            let input: JSONValue = [
                "base": .string("http://127.0.0.1:\(running.wire.port)"), "origin": .string(RunningServer.origin),
                "now": .integer(Int64(running.clock.now.timeIntervalSince1970)), "user": "jane.doe@example.com",
                "password": "Correct-Horse-7", "client": "password-app",
            ]
            let result = try await ForeignProgram.run(
                .python, [OutsidePart.scripts.appending(path: "dpop_client.py").path, algorithm], input: input.serializedString)
            #expect(result.status == 0, "\(result.errors)")
            #expect(
                try JSONValue(parsing: result.output) == [
                    "name": "Jane Doe", "replayed": [401, #"DPoP error="invalid_dpop_proof""#],
                    "downgraded": [401, #"DPoP error="invalid_token""#], "refreshed": "DPoP",
                ])
        }
    }
}
