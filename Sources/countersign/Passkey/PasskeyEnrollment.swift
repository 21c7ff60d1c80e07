import AuthFoundation
import CountersignSandbox
import Foundation
import JOSE
import OktaAuthSdk

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Creates a passkey with the classic AuthN API (Documentation/Protocol/Authn.md §5.10). The module OktaAuthSdk has no calls for passkeys,
/// so this type sends the requests itself.
struct PasskeyEnrollment: Sendable {
    /// A response of the API.
    private struct State: Sendable {
        let json: JSONValue

        var status: String { json["status"]?.stringValue ?? "" }
        var token: JSONValue? { json["stateToken"] }
        /// The factors that the server offers.
        var factors: [JSONValue] { json["_embedded"]?["factors"]?.arrayValue ?? [] }
    }

    private static let session = EphemeralSession(isBrowserless: true, keepsCookies: false)
    /// The time limit for the request that cancels the sign-in.
    private static let patience: Duration = .seconds(3)

    /// The origin of the organization.
    let origin: PasskeyOrigin
    let store: PasskeyStore

    /// Signs in with the password, and creates and stores a passkey. Throws ``CommandFailure`` if the server does not offer passkeys,
    /// `OktaError` if the server refuses a step, and errors of the transport and of the store.
    func create(username: String, password: String) async throws -> SoftwarePasskey {
        let first = try await send("", ["username": .string(username), "password": .string(password)])
        do {
            let passkey = try await enroll(proved(first))
            await cancel(first)
            return passkey
        } catch {
            await cancel(first)
            throw error
        }
    }

    /// Verifies the second factor if the user has one, and returns the next state. Supports only the code of an authenticator app: throws
    /// ``CommandFailure`` if the user has no such app.
    private func proved(_ state: State) async throws -> State {
        guard state.status == "MFA_REQUIRED" else { return state }
        let app = state.factors.first { $0["factorType"]?.stringValue == "token:software:totp" }
        guard let id = app?["id"]?.stringValue else {
            throw CommandFailure(
                "\(origin.text) requires the account's second factor first. This command supports only an authenticator app, which the account does not have. Create the passkey on the sign-in pages, or use another account."
            )
        }
        let code = try await ClassicQuestion.ask("Code of your authenticator app: ")
        return try await send("/factors/\(try Self.segment(id))/verify", ["stateToken": state.token ?? .null, "passCode": .string(code)])
    }

    private func enroll(_ state: State) async throws -> SoftwarePasskey {
        guard state.status == "MFA_ENROLL" else {
            let reason =
                state.status == "SUCCESS"
                ? "signed the user in without offering a passkey"
                : "requires another step first (\(state.status)): complete it with countersign sign-in classic"
            throw CommandFailure(
                "\(origin.text) \(reason). The server offers a passkey if the org file has authn_api.factors with webauthn: required, or offer_optional_factors: true. Users can also create one on the sign-in pages."
            )
        }
        guard state.factors.contains(where: { $0["factorType"]?.stringValue == "webauthn" }) else {
            throw CommandFailure("\(origin.text) offers other factors, but no passkeys. Add the section passkeys to the org file.")
        }
        let started = try await send(
            "/factors", ["stateToken": state.token ?? .null, "factorType": "webauthn", "provider": "FIDO"])
        let factor = started.json["_embedded"]?["factor"]
        guard let id = factor?["id"]?.stringValue, let options = factor?["_embedded"]?["activation"] else { throw unexpected }
        guard let relyingPartyID = options["rp"]?["id"]?.stringValue, origin.canUse(relyingPartyID) else {
            throw CommandFailure("\(origin.text) requests a passkey for another domain; none was created. Correct rp_id in the org file.")
        }
        var random = SystemRandomNumberGenerator()
        guard let (passkey, registration) = try? SoftwarePasskey.create(for: options, from: origin.text, using: &random) else {
            throw unexpected
        }
        // The passkey is stored before its activation. Otherwise, an error of the store would leave a passkey on the account without its
        // private key, and the user could not remove it.
        try store.add(passkey)
        do {
            _ = try await send(
                "/factors/\(try Self.segment(id))/lifecycle/activate",
                [
                    "stateToken": state.token ?? .null, "attestation": .string(registration.attestation),
                    "clientData": .string(registration.clientData),
                ])
        } catch let error as OktaError {
            try store.remove(passkey)
            throw error
        }
        return passkey
    }

    private var unexpected: CommandFailure {
        CommandFailure("\(origin.text) did not send a valid response of the classic AuthN API. Check the address with countersign doctor.")
    }

    /// Cancels the sign-in. Ignores errors, because the sign-in expires soon in any case.
    private func cancel(_ state: State) async {
        guard let token = state.token else { return }
        await TerminalClock.wait(atMost: Self.patience) { _ = try? await send("/cancel", ["stateToken": token]) }
    }

    /// Returns a factor id as a segment of a URL path. Throws ``CommandFailure`` if the id contains characters that a path must escape.
    private static func segment(_ id: String) throws -> String {
        guard id.wholeMatch(of: /[A-Za-z0-9_-]{1,100}/) != nil else { throw CommandFailure("The server sent the invalid factor id \(id).") }
        return id
    }

    private func send(_ path: String, _ members: [String: JSONValue]) async throws -> State {
        guard let url = URL(string: "\(origin.text)/api/v1/authn\(path)") else { throw unexpected }
        var request = URLRequest(url: url, timeoutInterval: 30)
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        request.httpBody = Data(JSONValue.object(members).serialized())
        let (data, response) = try await Self.session.data(for: request)
        guard (response as? HTTPURLResponse)?.statusCode == 200 else {
            guard let refusal = try? JSONDecoder().decode(OktaAPIErrorResponse.self, from: data), refusal.errorCode != nil else {
                throw unexpected
            }
            throw OktaError.serverRespondedWithError(refusal)
        }
        guard let json = try? JSONValue(parsing: Array(data)) else { throw unexpected }
        return State(json: json)
    }
}
