import AuthFoundation
import Foundation
import JOSE
import TestSupport
import Testing

@testable import DeviceAuthenticator

@Suite("Cancelling an enrollment or a change")
struct CancellationTests {
    /// Runs a call in a task, cancels the task at the first request of a route, and waits for its end.
    private func run<Value: Sendable>(
        _ phone: TestPhone, cancellingAt route: TestOrg.Route, _ call: @escaping @Sendable () async throws -> Value
    ) async -> Result<Value, any Error> {
        let (gate, opening) = AsyncStream<Void>.makeStream()
        let task = Task {
            for await _ in gate { break }
            return try await call()
        }
        phone.org.atRequest(route) { task.cancel() }
        opening.yield()
        return await task.result
    }

    @Test(
        "Cancelling an enrollment before the enrollment request leaves no key, and the enrollment request is not sent",
        arguments: [TestOrg.Route.organization, .metadata])
    func early(route: TestOrg.Route) async throws {
        let phone = try TestPhone()
        let result = await run(phone, cancellingAt: route) { try await phone.enroll() }
        #expect(throws: CancellationError.self) { try result.get() }
        #expect(phone.org.requests(.enroll).isEmpty)
        #expect(try phone.folder.names(of: "key").isEmpty)
    }

    @Test("Cancelling an enrollment during user verification leaves no key, and the enrollment request is not sent")
    func whileVerifying() async throws {
        let phone = try TestPhone()
        let authenticator = try phone.builder.userVerifier(CancellingVerifier()).create()
        var parameters = EnrollmentParameters(deviceToken: .empty)
        parameters.enableUserVerification(enable: true)
        let task = Task { [parameters] in
            try await authenticator.enroll(
                authenticationToken: TestPhone.token, authenticatorConfig: phone.config, enrollmentParameters: parameters)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(phone.org.requests(.enroll).isEmpty)
        #expect(try phone.folder.names(of: "key").isEmpty)
    }

    @Test("Cancelling during the enrollment request throws an error, but the enrollment is stored and usable")
    func whileEnrolling() async throws {
        let phone = try TestPhone()
        let result = await run(phone, cancellingAt: .enroll) { try await phone.enroll(verification: true) }
        #expect(throws: CancellationError.self) { try result.get() }
        #expect(try phone.authenticator.enrollments().map(\.enrollmentId) == ["pfd1"])
        try await phone.parse(phone.org.challenge(more: ["userVerification": "REQUIRED"])).resolve(onRemediation: approving)
        #expect(try phone.org.answers().first?.claims["keyType"] == "userVerification")
    }

    @Test("Cancelling during an enrollment request that the server rejects leaves no key")
    func whileRefused() async throws {
        let phone = try TestPhone()
        phone.org.answer(.enroll, .failure("E0000006", status: 403))
        let result = await run(phone, cancellingAt: .enroll) { try await phone.enroll(verification: true) }
        #expect(throws: (any Error).self) { try result.get() }
        #expect(try phone.folder.names(of: "key").isEmpty)
    }

    @Test("Cancelling while a user verification key is being registered throws an error, but the key is kept and usable")
    func whileChanging() async throws {
        let phone = try TestPhone()
        let enrollment = try await phone.enroll()
        let result = await run(phone, cancellingAt: .update) {
            try await enrollment.setUserVerification(authenticationToken: TestPhone.token, enable: true)
        }
        #expect(throws: CancellationError.self) { try result.get() }
        #expect(enrollment.userVerificationEnabled)
        try await phone.parse(phone.org.challenge(more: ["userVerification": "REQUIRED"])).resolve(onRemediation: approving)
        #expect(try phone.org.answers().first?.claims["keyType"] == "userVerification")
    }
}

/// A user who cancels the call.
private struct CancellingVerifier: UserVerifier {
    func verify(_ request: UserVerificationRequest) async throws(UserVerificationFailure) -> UserVerification {
        withUnsafeCurrentTask { $0?.cancel() }
        return UserVerification(method: .pin, secret: Data("2468".utf8))
    }
}
