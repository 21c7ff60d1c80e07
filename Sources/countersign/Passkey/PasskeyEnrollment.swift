import AuthFoundation
import CountersignSandbox
import Foundation
import JOSE
import OktaAuthSdk

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Creates a passkey by the classic AuthN API (Documentation/Protocol/Authn.md §5.10). The official client has no calls for passkeys.
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
    /// The time limit for cancelling a sign-in at the server.
    private static let patience: Duration = .seconds(3)

    /// The organization.
    let origin: PasskeyOrigin
    let store: PasskeyStore

    /// Signs in with the password, and creates and stores a passkey. Throws ``CommandFailure`` if the server does not offer it, `OktaError`
    /// if the server refuses a step, and errors of the transport and of the store.
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

    /// Verifies the second factor of a user who has one, and returns the next state. The command can ask only for the code of an authenticator
    /// app; throws ``CommandFailure`` if the user has no such app.
    private func proved(_ state: State) async throws -> State {
        guard state.status == "MFA_REQUIRED" else { return state }
        let app = state.factors.first { $0["factorType"]?.stringValue == "token:software:totp" }
        guard let id = app?["id"]?.stringValue else {
            throw CommandFailure(
                "The account has a second factor, which \(origin.text) asks for first. This command can only enter a code of an authenticator app. Create the passkey on the sign-in pages, or use another account."
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
            throw CommandFailure("\(origin.text) offers other factors, but no passkey. Add the section passkeys to the org file.")
        }
        let started = try await send(
            "/factors", ["stateToken": state.token ?? .null, "factorType": "webauthn", "provider": "FIDO"])
        let factor = started.json["_embedded"]?["factor"]
        guard let id = factor?["id"]?.stringValue, let options = factor?["_embedded"]?["activation"] else { throw unexpected }
        guard let relyingPartyID = options["rp"]?["id"]?.stringValue, origin.canUse(relyingPartyID) else {
            throw CommandFailure("\(origin.text) asks for a passkey of another domain, so none was created. Correct rp_id in the org file.")
        }
        var random = SystemRandomNumberGenerator()
        guard let (passkey, registration) = try? SoftwarePasskey.create(for: options, from: origin.text, using: &random) else {
            throw unexpected
        }
        // Stored first: a passkey that only the server knows cannot be removed by the user.
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
        CommandFailure("\(origin.text) did not respond like the classic AuthN API. Check the address with countersign doctor.")
    }

    /// Cancels the sign-in. Errors are ignored, because the sign-in expires soon.
    private func cancel(_ state: State) async {
        guard let token = state.token else { return }
        await TerminalClock.wait(atMost: Self.patience) { _ = try? await send("/cancel", ["stateToken": token]) }
    }

    /// Returns an id of the server for a path.
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
