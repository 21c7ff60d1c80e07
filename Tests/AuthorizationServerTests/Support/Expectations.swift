import JOSE
import Testing

/// Expects exactly this error in the API form, with an ID that contains the request ID.
func expectAPIError(
    _ response: WireResponse, code: String, summary: String, sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let requestID = try #require(response["x-okta-request-id"], sourceLocation: sourceLocation)
    let expected: JSONValue = [
        "errorCode": .string(code), "errorSummary": .string(summary), "errorLink": .string(code),
        "errorId": .string("oae" + requestID), "errorCauses": [],
    ]
    #expect(try response.json == expected, sourceLocation: sourceLocation)
    #expect(response["Content-Type"] == "application/json", sourceLocation: sourceLocation)
}

/// Expects exactly this error in the OAuth form, with its status and cache headers.
func expectOAuthError(
    _ response: WireResponse, _ status: Int, _ error: String, _ description: String, sourceLocation: SourceLocation = #_sourceLocation
) throws {
    #expect(response.status == status, sourceLocation: sourceLocation)
    #expect(
        try response.json == ["error": .string(error), "error_description": .string(description)], sourceLocation: sourceLocation)
    #expect(response["Content-Type"] == "application/json", sourceLocation: sourceLocation)
    #expect(response["Cache-Control"] == "no-cache, no-store", sourceLocation: sourceLocation)
    #expect(response["Pragma"] == "no-cache", sourceLocation: sourceLocation)
}
