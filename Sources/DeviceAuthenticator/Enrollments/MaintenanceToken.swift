internal import AuthFoundation
internal import Foundation
internal import JOSE

/// A request for a token for upkeep (the device-authenticator reference 2.10 and 3.8).
struct MaintenanceToken: Sendable {
    static let defaultScopes = ["okta.myAccount.appAuthenticator.maintenance.manage"]
    private static let issuer = "urn:okta:devices:app:authenticator"

    let record: EnrollmentRecord
    let device: PushDevice

    func retrieve(scopes: [String]) async throws -> Oauth2Credential {
        let org = record.organizationURL
        var assertion = ClientToken(
            type: "JWT", keyTag: record.possessionKeyTag, issuer: Self.issuer, audience: org.absoluteString, subject: record.userID,
            now: device.clock.now, randomness: device.randomness)
        assertion.claims["methodEnrollmentId"] = .string(record.methodID)
        let signed = try await device.signWithPossessionKey(assertion)
        let data = try await device.transport.send(
            OrgRequests.maintenanceToken(of: org, clientID: record.clientID, scopes: scopes, assertion: signed))
        do {
            return try JSONDecoder().decode(Oauth2Credential.self, from: data)
        } catch {
            // The decoder's own error may quote the token.
            throw DeviceAuthenticatorError.internalError("The answer of the token endpoint is no token.")
        }
    }
}
