import AuthorizationServer
import IdentityCore
import Testing

@Suite("Message cost announcement")
struct MessageCostTests {
    private static let telephony = MessageSettings(telephony: .init(url: "https://hooks.example.com/telephony"))

    private static func organization(_ callingCodes: [String]?) -> OrganizationDefinition {
        var organization = TestOrganization.definition(origin: RunningServer.origin)
        organization.callingCodes = callingCodes
        organization.rateLimits.messages = 70
        return organization
    }

    @Test(
        "The startup announcement for texts and calls names the allowed countries and the message limit, or warns if all countries are allowed"
    )
    func announcement() throws {
        let open = try #require(Self.telephony.announcement(for: Self.organization(nil)))
        #expect(open.isWarning && open.text.contains("every country") && open.text.contains("calling_codes"))
        let closed = try #require(Self.telephony.announcement(for: Self.organization(["49", "1"])))
        #expect(closed.text == "Texts and calls go to +49, +1; at most 70 messages a minute (rate_limits: messages).")
        #expect(!closed.isWarning)
        #expect(MessageSettings().announcement(for: Self.organization(nil)) == nil)
    }
}
