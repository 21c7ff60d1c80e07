import HTTPTypes
import Hummingbird
import JOSE
import Testing

@testable import ResourceServer

@Suite("Token of a request")
struct PresentedTokenTests {
    private static func token(of values: [String]) throws -> PresentedToken {
        var fields = HTTPFields()
        for value in values { fields.append(HTTPField(name: .authorization, value: value)) }
        let head = HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1", path: "/api/messages", headerFields: fields)
        return try PresentedToken(Request(head: head, body: RequestBody(buffer: ByteBuffer())))
    }

    @Test("A request with two Authorization headers is rejected as a bad request")
    func several() throws {
        #expect(try Self.token(of: ["Bearer a.b.c"]) == .bearer("a.b.c"))
        #expect(try Self.token(of: ["dpop a.b.c"]) == .dpop("a.b.c"))
        for values in [["Bearer a.b.c", "Bearer d.e.f"], ["Bearer a.b.c", "DPoP a.b.c"], ["Bearer a.b.c", "Basic eDp5"]] {
            let error = #expect(throws: AccessTokenError.self) { try Self.token(of: values) }
            #expect(error?.code == .badRequest)
        }
    }
}
