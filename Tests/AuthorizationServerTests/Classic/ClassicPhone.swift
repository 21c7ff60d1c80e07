import IdentityCore
import JOSE
import Testing

/// Helpers that enroll a phone through the classic API.
enum ClassicPhone {
    static let push: [String: JSONValue] = ["factorType": "push", "provider": "OKTA"]

    /// Runs a test with a server that enrolls phones by tickets.
    static func with(
        _ policy: ClassicPolicy, _ change: (inout PushOrganization) -> Void = { _ in },
        _ body: @Sendable (ClassicClient, PushServer) async throws -> Void
    ) async throws {
        var organization = PushOrganization(classic: policy)
        organization.enrollsByTicket = true
        change(&organization)
        try await PushServer.with(organization) { server in try await body(ClassicClient(server), server) }
    }

    /// Begins the enrollment of a phone.
    static func begin(_ client: ClassicClient, _ status: ClassicStatus) async throws -> ClassicStatus {
        let begun = try ClassicStatus(
            try await client.follow(try status.factor("push")["_links"]?["enroll"], of: status, push))
        try #require(begun.name == "MFA_ENROLL_ACTIVATE")
        return begun
    }

    /// Returns the activation object of a phone enrollment.
    static func activation(_ status: ClassicStatus) -> JSONValue? { status.embedded["factor"]?["_embedded"]?["activation"] }

    /// Requests the enrollment link by email, and returns the ticket in it.
    static func mailed(_ client: ClassicClient, _ status: ClassicStatus) async throws -> String {
        let link = activation(status)?["_links"]?["send"]?[0]
        #expect(try ClassicStatus(try await client.follow(link, of: status)).name == "MFA_ENROLL_ACTIVATE")
        return try await ticket(client.server)
    }

    /// Returns the ticket in the link of the next message.
    static func ticket(_ server: PushServer) async throws -> String {
        let beginning = "autphone1#client_id=phone-app&ticket="
        let reference = try await server.messages.linkToken()
        try #require(reference.hasPrefix(beginning), "\(reference)")
        return String(reference.dropFirst(beginning.count))
    }

    /// Exchanges a ticket at the token endpoint.
    static func exchange(_ server: PushServer, _ ticket: String) async throws -> WireResponse {
        try await server.wire.post(
            "/oauth2/v1/token",
            Form.encode(["grant_type": PhoneTicketTests.grantType, "client_id": "phone-app", "ticket": ticket]))
    }

    /// Enrolls a phone with a ticket.
    static func enroll(_ server: PushServer, by ticket: String) async throws -> WirePhone {
        let token = try await exchange(server, ticket).json["access_token"]?.stringValue
        return try await WirePhone.enroll(server.wire, clock: server.clock, accessToken: try #require(token), .init())
    }
}
