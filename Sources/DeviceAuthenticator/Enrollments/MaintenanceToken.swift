internal import AuthFoundation
internal import Foundation
internal import JOSE

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// A request for a maintenance token (Documentation/Protocol/Devices.md §2.10 and §3.8).
struct MaintenanceToken: Sendable {
    static let defaultScopes = ["okta.myAccount.appAuthenticator.maintenance.manage"]
    private static let issuer = "urn:okta:devices:app:authenticator"

    let record: EnrollmentRecord
    let device: PushDevice

    func retrieve(scopes: [String]) async throws -> Oauth2Credential {
        let org = record.organizationURL
        let data: Data
        do {
            data = try await device.sendDated(by: org) { now in
                var assertion = ClientToken(
                    type: "JWT", keyTag: record.possessionKeyTag, issuer: Self.issuer, audience: org.absoluteString,
                    subject: record.userID, now: now, randomness: device.randomness)
                assertion.claims["methodEnrollmentId"] = .string(record.methodID)
                let signed = try await device.signWithPossessionKey(assertion)
                return try await device.transport.send(
                    OrgRequests.maintenanceToken(of: org, clientID: record.clientID, scopes: scopes, assertion: signed))
            }
        } catch DeviceAuthenticatorError.serverAPIError(let result, let model) {
            // The token endpoint rejects every invalid assertion with `invalid_grant`, so a clock error is added as the probable cause.
            throw DeviceAuthenticatorError.serverAPIError(result.with(error: device.clock.error(at: org)), model)
        }
        guard let credential = try? JSONDecoder().decode(Oauth2Credential.self, from: data),
            credential.access_token.isHeaderToken, credential.token_type.isHeaderToken
        else {
            // The decoder's error may quote the token.
            throw DeviceAuthenticatorError.internalError("The answer of the token endpoint is no token.")
        }
        return credential
    }
}

/// An in-memory cache of maintenance tokens, one per enrollment. A token is reused until the org rejects it.
package actor UpkeepTokens {
    private var tokens: [String: AuthToken] = [:]

    package init() {}

    /// Runs the body with a token of the enrollment. If the org rejects a cached token, runs the body once more with a new token.
    package func use<Result: Sendable>(
        for enrollment: any AuthenticatorEnrollmentProtocol, _ body: @Sendable (AuthToken) async throws -> Result
    ) async throws -> Result {
        if let token = tokens[enrollment.enrollmentId] {
            do {
                return try await body(token)
            } catch let error as DeviceAuthenticatorError where error.reason == .tokenRefused || error.reason == .notPermitted {
                tokens[enrollment.enrollmentId] = nil
            }
        }
        let token = AuthToken.bearer(try await enrollment.retrieveMaintenanceToken().access_token)
        tokens[enrollment.enrollmentId] = token
        return try await body(token)
    }
}
