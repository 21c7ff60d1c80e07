import ArgumentParser
import AuthFoundation
import DeviceAuthenticator
import Foundation

/// A phone whose state is stored in a folder. Safe from any task.
struct TerminalPhone: Sendable {
    let folder: URL
    private let device: any DeviceAuthenticatorProtocol
    private let upkeep = UpkeepTokens()

    /// Opens the folder, and creates it if necessary. Throws `DeviceAuthenticatorError` if the folder cannot be used.
    init(_ folder: URL) throws {
        self.folder = folder
        let application = ApplicationConfig(
            applicationName: "countersign phone", applicationVersion: Countersign.configuration.version,
            applicationGroupId: "countersign.phone")
        device = try DeviceAuthenticatorBuilder(applicationConfig: application)
            .storageDirectory(folder).keyStore(FileDeviceKeyStore(directory: folder)).userVerifier(PINPrompt())
            .addLogger(PhoneLog()).create()
    }

    /// The enrollments of this phone. Unreadable enrollments are omitted with a warning.
    var enrollments: [AuthenticatorEnrollment] { device.allEnrollments().compactMap { $0 as? AuthenticatorEnrollment } }

    /// Returns all enrollments, or the only one whose ID equals or begins with `id`. The result is never empty. Throws ``CommandFailure``
    /// for no enrollment, or for several that begin with `id`.
    func enrollments(id: String?) throws -> [AuthenticatorEnrollment] {
        let all = enrollments
        guard !all.isEmpty else {
            throw CommandFailure(
                "The phone in \(folder.path()) has no accounts. Add one: countersign phone enroll jane.doe@example.com")
        }
        guard let id else { return all }
        let found = all.filter { $0.enrollmentId == id }.first.map { [$0] } ?? all.filter { $0.enrollmentId.hasPrefix(id) }
        guard found.count < 2 else { throw CommandFailure("More than one account begins with \(id). Use a longer part of the id.") }
        guard !found.isEmpty else {
            throw CommandFailure("There is no account \(id) on this phone. `countersign phone list` shows all accounts.")
        }
        return found
    }

    func enroll(
        _ authenticator: DeviceAuthenticatorConfig, with token: AuthToken, verifiesUser: Bool, answersCIBA: Bool
    ) async throws -> AuthenticatorEnrollment {
        let made = try await device.enroll(
            authenticationToken: token, authenticatorConfig: authenticator,
            enrollmentParameters: parameters(verifiesUser: verifiesUser, answersCIBA: answersCIBA))
        return try known(made)
    }

    /// Enrolls this phone with the link from the QR code of a sign-in page.
    func enroll(_ link: EnrollmentLink, verifiesUser: Bool, answersCIBA: Bool) async throws -> AuthenticatorEnrollment {
        let parameters = parameters(verifiesUser: verifiesUser, answersCIBA: answersCIBA)
        return try known(await device.enroll(link, enrollmentParameters: parameters))
    }

    private func parameters(verifiesUser: Bool, answersCIBA: Bool) -> EnrollmentParameters {
        var parameters = EnrollmentParameters(deviceToken: .empty)
        parameters.enableUserVerification(enable: verifiesUser)
        parameters.enableCIBATransactions(enable: answersCIBA)
        return parameters
    }

    private func known(_ made: any AuthenticatorEnrollmentProtocol) throws -> AuthenticatorEnrollment {
        guard let enrollment = made as? AuthenticatorEnrollment else {
            throw CommandFailure(
                "The phone is enrolled, but countersign cannot use the enrollment. This is a bug in countersign; please report it.")
        }
        return enrollment
    }

    /// Fetches the pending requests of each account. A failing account does not affect the others.
    func waiting(for enrollments: [AuthenticatorEnrollment]) async throws -> WaitingRequests {
        var waiting = WaitingRequests()
        for enrollment in enrollments {
            do {
                let challenges = try await upkeep.use(for: enrollment) {
                    try await enrollment.retrievePushChallenges(authenticationToken: $0)
                }
                waiting.requests += challenges.compactMap { $0 as? PushChallenge }
                    .map { PhoneRequest(challenge: $0, enrollment: enrollment) }
            } catch let error as DeviceAuthenticatorError {
                waiting.failures.append((enrollment, error))
            }
        }
        waiting.requests.sort { $0.challenge.transactionTime < $1.challenge.transactionTime }
        return waiting
    }

    /// Fetches the pending requests of all accounts, oldest first. Throws the first error if every account failed. Otherwise reports the
    /// accounts that failed.
    func requests(for enrollments: [AuthenticatorEnrollment]) async throws -> [PhoneRequest] {
        let waiting = try await waiting(for: enrollments)
        if let (_, error) = waiting.failures.first, waiting.failures.count == enrollments.count { throw error }
        for (enrollment, error) in waiting.failures { Terminal.note("\(PhoneFailure.text(of: error, for: enrollment))") }
        return waiting.requests
    }

    /// Returns the request whose ID equals or begins with `id`. Throws ``CommandFailure`` for no such request, or for several.
    func request(_ id: String, for enrollments: [AuthenticatorEnrollment]) async throws -> PhoneRequest {
        let all = try await requests(for: enrollments)
        let found = all.filter { $0.id == id }.first.map { [$0] } ?? all.filter { $0.id.hasPrefix(id) }
        guard found.count < 2 else { throw CommandFailure("More than one request begins with \(id). Use a longer part of the id.") }
        guard let request = found.first else {
            throw CommandFailure(
                "There is no pending request \(id). It was answered or cancelled, or has expired. `countersign phone pending` lists pending requests."
            )
        }
        return request
    }
}

/// The pending requests of a phone's accounts, and the accounts that failed.
struct WaitingRequests {
    /// The pending requests, oldest first.
    var requests: [PhoneRequest] = []
    /// The accounts whose requests could not be fetched.
    var failures: [(AuthenticatorEnrollment, DeviceAuthenticatorError)] = []
}

/// Shows the warnings and errors of the device SDK.
private struct PhoneLog: DeviceAuthenticatorLogger {
    func debug(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String) {}
    func info(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String) {}
    func uiEvent(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String) {}

    func warning(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String) {
        // The command reports this failure itself, with a clearer text.
        if eventName != "userVerification" { tell(message ?? eventName) }
    }

    func error(eventName: String, message: String?, properties: [AnyHashable: Any]?, file: String, line: NSNumber, funcName: String) {
        tell(message ?? eventName)
    }

    private func tell(_ text: String) {
        Terminal.note("\(Terminal.styledNote("Warning: ", .yellow))\(text)")
    }
}

/// Verifies the user by a PIN, which is not shown while typing.
struct PINPrompt: UserVerifier {
    /// The minimum length of a PIN, in characters.
    static let shortest = 4

    func verify(_ request: UserVerificationRequest) async throws(UserVerificationFailure) -> UserVerification {
        let pin: String
        switch request.purpose {
        case .makeKey: pin = try await chosen()
        case .approve: pin = try await given("PIN (\(request.reason)): ")
        }
        return UserVerification(method: .pin, secret: Data(pin.utf8))
    }

    /// Asks for a new PIN; in a terminal, twice, because the user cannot see the PIN.
    private func chosen() async throws(UserVerificationFailure) -> String {
        for _ in 0..<3 {
            let pin = try await given("Choose a PIN of at least \(Self.shortest) characters: ")
            guard pin.count >= Self.shortest else {
                Terminal.note("The PIN is too short. Choose a longer one.")
                continue
            }
            guard TerminalInput.isInteractive else { return pin }
            guard try await given("Enter the PIN again: ") != pin else { return pin }
            Terminal.note("The PINs do not match. Enter the same PIN twice.")
        }
        throw .failed
    }

    private func given(_ prompt: TerminalText) async throws(UserVerificationFailure) -> String {
        do {
            guard let pin = try await TerminalInput.line(prompt, isSecret: true), !pin.isEmpty else {
                throw UserVerificationFailure.cancelled
            }
            return pin
        } catch {
            // Ctrl-C is also a cancellation.
            throw .cancelled
        }
    }
}
