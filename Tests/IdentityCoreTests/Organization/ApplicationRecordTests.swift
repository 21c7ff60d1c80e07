import Foundation
import Testing

@testable import IdentityCore

@Suite("Stored applications")
struct ApplicationRecordTests {
    /// An application record in the format of version 0.1, without the protection settings.
    private static let first = """
        {"id": "web-app", "name": "Web", "kind": "web", "isActive": true, "authentication": "client_secret_basic",
         "grantTypes": ["authorization_code"], "redirectURIs": ["http://127.0.0.1/callback"], "postLogoutRedirectURIs": [],
         "assignment": {"everyone": true, "groups": [], "users": []}, "signOnPolicy": "one factor", "grantedAPIScopes": [],
         "refreshTokenRotation": {"rotate": {"leeway": 30}}, "idTokenAlgorithm": "RS256"}
        """

    @Test("An application record without protection settings requires PKCE, has the other settings off, and is encoded unchanged")
    func first() throws {
        let application = try JSONDecoder().decode(Application.self, from: Data(Self.first.utf8))
        #expect(application.authentication == .clientSecretBasic)
        #expect(application.requiresPKCE)
        #expect(!application.requiresPushedAuthorizationRequests && !application.requiresIssuerAudience && !application.requiresAssertionID)
        #expect(application.introspectionAudiences == nil)
        let again = try RecordCoding.encode(application)
        let written = try JSONSerialization.jsonObject(with: Data(again)) as? NSDictionary
        #expect(written == (try JSONSerialization.jsonObject(with: Data(Self.first.utf8)) as? NSDictionary))
    }

    @Test("The protection settings of an application are kept when its record is encoded and decoded")
    func chosen() throws {
        var application = try JSONDecoder().decode(Application.self, from: Data(Self.first.utf8))
        application.requiresPKCE = false
        application.requiresPushedAuthorizationRequests = true
        application.requiresIssuerAudience = true
        application.requiresAssertionID = true
        application.introspectionAudiences = ["api://default"]
        let again = try JSONDecoder().decode(Application.self, from: Data(try RecordCoding.encode(application)))
        #expect(again == application && !again.requiresPKCE && again.requiresAssertionID)
    }
}
