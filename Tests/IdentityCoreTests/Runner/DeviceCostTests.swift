import Foundation
import JOSE
import TestSupport
import Testing

@testable import DeviceAPI
@testable import IdentityCore

/// Checks the number of reads and commits of the requests of enrolled phones. ``RequestCostTests`` checks those of their answers.
@Suite("Reads and commits of the device API", .serialized)
struct DeviceCostTests {
    private let cost = RequestCost()
    private let org: PushFixture

    init() async throws {
        org = try await PushFixture(store: cost.store)
    }

    @Test("Enrolling, changing and deleting a phone make one read and one commit each")
    func lifecycle() async throws {
        var phone = try Phone(userID: try await org.userID())
        let token = try await org.signIn(scope: DeviceFixture.manage, client: "phone-app", server: nil, at: 1).get().accessToken
        try await cost.expect(commits: 0) {
            _ = try await org.engine.authenticatorConfiguration(
                clientID: "phone-app", authorization: .bearer(token), context: PushFixture.context(1)
            ).get()
        }
        let enrolled = try await cost.expect {
            try await org.engine.enrollDevice(phone.enrollment(), authorization: .bearer(token), context: PushFixture.context(1)).get()
        }
        try phone.remember(enrolled)
        let known = phone
        // The commit stores the single use of the phone's assertion.
        try await cost.expect { _ = try await org.pending(known, at: 2) }
        try await cost.expect { try await org.change(known, ["pushToken": "00ff"], at: 3) }
        try await cost.expect { try await org.delete(known, at: 4) }
    }
}
