import CountersignSandbox
import Foundation
import JOSE
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Virtual phones in the sandbox's control API, over HTTP", .timeLimit(.minutes(10)))
struct PhoneControlTests {
    private let jane = "phones/jane.doe%40example.com"

    private func call(
        _ sandbox: Sandbox, _ method: String, _ path: String, _ body: JSONValue? = nil
    ) async throws -> (status: Int, json: JSONValue) {
        var request = URLRequest(url: try #require(URL(string: sandbox.origin.absoluteString + "/sandbox/" + path)))
        request.httpMethod = method
        request.httpBody = body.map { Data($0.serialized()) }
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        let (data, response) = try await PlainHTTP.data(for: request)
        return (response.statusCode, try JSONValue(parsing: data))
    }

    @Test("The sandbox's control API can add, list and remove a virtual phone")
    func phones() async throws {
        try await withSandbox { sandbox in
            let none = try await call(sandbox, "GET", "phones")
            #expect(none.json == ["phones": []])
            let added = try await call(sandbox, "POST", "phones", ["login": "jane.doe@example.com"])
            #expect(added.status == 200 && added.json["login"] == "jane.doe@example.com")
            #expect(added.json["enrollments"]?.arrayValue?.count == 1)
            let listed = try await call(sandbox, "GET", "phones")
            #expect(listed.json == ["phones": [added.json]])
            let one = try await call(sandbox, "GET", jane)
            #expect(one.json == added.json)
            let removed = try await call(sandbox, "DELETE", jane)
            #expect(removed.json == ["phones": []])
            let gone = try await call(sandbox, "GET", jane)
            #expect(gone.status == 404)
        }
    }

    @Test("The sandbox's control API can approve a virtual phone's next request, and can deny a request by ID")
    func answers() async throws {
        try await withSandbox(.init(clock: SandboxClock(.standing))) { sandbox in
            _ = try await call(sandbox, "POST", "phones", ["login": "jane.doe@example.com"])
            let first = PushSignIn(sandbox)
            let firstWaiting = try await first.begin()
            let approved = try await call(sandbox, "POST", jane + "/approve", ["within": 300])
            #expect(approved.json["history"]?.arrayValue?.first?["outcome"] == "approved")
            _ = try await first.tokens(firstWaiting)

            let second = PushSignIn(sandbox)
            let secondWaiting = try await second.begin()
            let phone = try await sandbox.phone(for: "jane.doe@example.com")
            _ = try await phone.shows { !$0.isEmpty }
            let shown = try await call(sandbox, "GET", jane)
            let request = try #require(shown.json["requests"]?.arrayValue?.first)
            #expect(request["application"] == "Direct Authentication App" && request["number_choices"] == .null)
            let denied = try await call(sandbox, "POST", jane + "/deny", ["id": request["id"] ?? .null, "suspicious": true])
            #expect(denied.json["history"]?.arrayValue?.last?["outcome"] == "denied")
            let error = await thrown { _ = try await second.tokens(secondWaiting) }
            #expect(serverCode(of: error) == "access_denied")
            let again = try await call(sandbox, "POST", jane + "/approve", ["id": request["id"] ?? .null])
            #expect(again.status == 409 && again.json["code"] == "unknownRequest")
        }
    }

    @Test("The sandbox's control API can change a virtual phone's settings, and rejects invalid settings with 400")
    func settings() async throws {
        try await withSandbox { sandbox in
            _ = try await call(sandbox, "POST", "phones", ["login": "jane.doe@example.com"])
            let wanted: JSONValue = [
                "auto_approve": true, "delay": 1.5, "delivers_twice": true, "picks_wrong_number": true, "verification": "fails",
                "ciba": true,
                "user_verification": false, "offline": false,
            ]
            let changed = try await call(sandbox, "POST", jane + "/settings", wanted)
            for (name, value) in wanted.objectValue ?? [:] { #expect(changed.json[name] == value, "\(name)") }

            for wrong in [["delay": -1], ["auto_approve": "yes"], ["verification": "maybe"]] as [JSONValue] {
                let refused = try await call(sandbox, "POST", jane + "/settings", wrong)
                #expect(refused.status == 400 && refused.json["error"]?.stringValue?.isEmpty == false)
            }
            _ = try await call(sandbox, "POST", jane + "/settings", ["offline": true])
            let offline = try await call(sandbox, "POST", jane + "/pull", [:])
            #expect(offline.status == 409 && offline.json["code"] == "network")
            let stranger = try await call(sandbox, "POST", "phones", ["login": "unknown@example.com"])
            #expect(stranger.status == 409 && stranger.json["code"] == "unknownPerson")
            let unknown = try await call(sandbox, "POST", jane + "/explode", [:])
            #expect(unknown.status == 404)
        }
    }
}
