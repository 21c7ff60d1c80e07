import Foundation
import TestSupport
import Testing

/// An attacker who has a link of the attacker's own account, and makes the victim's browser open it.
@Suite("Attacks: mailed links planted in the victim's browser")
struct PlantedLinkAttackTests {
    @Test("A recovery link of another account that the victim's browser opens does not change the victim's recovery page")
    func planted() async throws {
        try await RecoveryBrowser.with { desk in
            let janes = try await desk.link()
            let page = try await desk.open(janes)
            let address = try WireBrowser.form(page, "recover").action
            desk.server.clock.advance(by: 31)
            let attackers = try await desk.link(as: PushOrganization.john)
            _ = try await desk.browser.get(attackers)
            // Reloading the page and submitting its form still apply to Jane's account.
            let reloaded = try await desk.browser.get(address)
            #expect(reloaded.body.contains(PushOrganization.jane) && !reloaded.body.contains(PushOrganization.john))
            let next = try await desk.browser.submit(page, "recover")
            #expect(next.body.contains("value=\"\(PushOrganization.jane)\""), "\(next.status) \(next.body)")
        }
    }

    @Test("The page of a recovery link shows the account's user name before the user continues")
    func named() async throws {
        try await RecoveryBrowser.with { desk in
            let page = try await desk.open(try await desk.link(as: PushOrganization.john), in: WireBrowser(desk.server.wire))
            #expect(page.body.contains(PushOrganization.john))
        }
    }

    @Test(
        "A mailed link that another origin's page loads as an image or a frame, or fetches, sets no cookie",
        arguments: [("cross-site", "no-cors", "image"), ("cross-site", "navigate", "iframe"), ("same-site", "cors", "empty")])
    func subresource(site: String, mode: String, destination: String) async throws {
        try await RecoveryBrowser.with { desk in
            for link in [try await desk.link(), "/signin/mail/ml_\(String(repeating: "a", count: 43))"] {
                let answer = try await desk.server.wire.get(
                    link, headers: [("Sec-Fetch-Site", site), ("Sec-Fetch-Mode", mode), ("Sec-Fetch-Dest", destination)])
                #expect(answer["Set-Cookie"] == nil, "\(answer.status)")
            }
        }
    }

    @Test("The address that a recovery link redirects to is rejected in another browser")
    func otherBrowser() async throws {
        try await RecoveryBrowser.with { desk in
            let page = try await desk.open(try await desk.link())
            let address = try WireBrowser.form(page, "recover").action
            #expect(try await WireBrowser(desk.server.wire).get(address).status == 400)
        }
    }

    @Test("A browser that opens many recovery links keeps at most four link cookies")
    func bounded() async throws {
        try await RecoveryBrowser.with { desk in
            for _ in 1...12 {
                let secret = (0..<43).map { _ in String("abcdefghijklmnopqrstuvwxyz".randomElement() ?? "a") }.joined()
                _ = try await desk.browser.get("/signin/reset-password/rt_\(secret)")
            }
            #expect(desk.browser.cookies.keys.count { $0.hasPrefix("link") } <= 4)
        }
    }
}
