import Foundation
import Testing

@testable import IdentityCore

@Suite("Places in the hashing queue")
struct HashingShareTests {
    private static let context: RequestContext = {
        var context = RequestContext(now: Date(timeIntervalSince1970: 1_700_000_000), requestID: "r", address: "192.0.2.1")
        context.userAgent = "test"
        return context
    }()
    private static func application(_ id: String, _ authentication: Application.Authentication = .clientSecretBasic) -> Application {
        Application(id: id, name: id, kind: .web, authentication: authentication, signOnPolicy: "p")
    }

    @Test("In the hashing queue, each confidential client's requests without device tokens share one line, which counts as a known origin")
    func backEnd() {
        let shares = ["crm", "shop"].map { HashingShare(RequestOrigin(Self.context, application: Self.application($0)), of: nil) }
        #expect(shares.map(\.isKnown) == [true, true])
        #expect(Set(shares).count == 2)
    }

    @Test("In the hashing queue, a request of a public client or of the hosted pages waits in the line of its network")
    func networks() {
        let expected = HashingShare(RequestOrigin(Self.context, application: Self.application("app", .none)), of: nil)
        #expect(!expected.isKnown)
        #expect(HashingShare(RequestOrigin(Self.context, application: Self.application("crm"), isOnPages: true), of: nil) == expected)
    }
}
