import Foundation
import TestSupport
import Testing

@testable import AuthFoundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The URL session of an app")
struct AppSessionTests {
    @Test("A client sends its requests with the URLSession that the app provides, with this session's settings")
    func ownSession() async throws {
        let heads = Locked<[String]>([])
        let server = try HostileServer { head in
            heads.withLock { $0.append(head) }
            let host = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("host: ") }?.dropFirst(6) ?? ""
            let document = """
                {"issuer":"http://\(host)","authorization_endpoint":"http://\(host)/authorize","token_endpoint":"http://\(host)/token",
                "jwks_uri":"http://\(host)/keys","response_types_supported":["code"],"subject_types_supported":["public"],
                "id_token_signing_alg_values_supported":["RS256"]}
                """
            return .bytes(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(document.utf8.count)\r\nConnection: close\r\n\r\n"
                    + document)
        }
        let settings = URLSessionConfiguration.ephemeral
        settings.httpAdditionalHeaders = ["X-App-Session": "mine"]
        let session = URLSession(configuration: settings)
        defer { session.finishTasksAndInvalidate() }
        let issuer = try url("http://127.0.0.1:\(server.port)")
        let client = OAuth2Client(issuerURL: issuer, clientId: "app", scope: "openid", session: session)
        #expect(client.session as? URLSession === session)
        #expect(try await client.openIdConfiguration().issuer == issuer)
        let sent = heads.withLock { $0 }
        #expect(sent.count == 1 && sent.allSatisfy { $0.lowercased().contains("x-app-session: mine") })
    }
}
