#if os(Linux)
import AuthFoundation
import Foundation
import JOSE
import TestSupport
import Testing

@testable import DeviceAuthenticator

@Suite("Enrollments after kill -9")
struct EnrollmentKillTests {
    private static let variable = "COUNTERSIGN_TEST_DEVICE"
    private static let prefix = "enrolled "

    @Test(
        "An enrollment that the app reports as complete is present with its keys after kill -9", .timeLimit(.minutes(1)),
        arguments: [1, 2, 5, 9])
    func survivesKill(_ count: Int) async throws {
        let folder = TemporaryFolder()
        let child = TestProcess("EnrollmentKillTests/enrollsAgainAndAgain", variables: [Self.variable: folder.url.path])
        let lines = try await child.run(killingAfter: count, linesBeginning: Self.prefix)
        let told = Set(lines.map { String($0.dropFirst(Self.prefix.count)) })
        #expect(told.count >= count)
        let phone = try TestPhone(folder: folder)
        let enrollments = try phone.authenticator.enrollments().compactMap { ($0 as? AuthenticatorEnrollment)?.record }
        #expect(told.isSubset(of: enrollments.map(\.id)))
        let keys = FileDeviceKeyStore(directory: folder.url)
        for tag in enrollments.flatMap(\.keyTags) { #expect(try keys.publicKey(tag: tag) != nil) }
        // Further enrollments still succeed.
        phone.org.answer(.enroll, .json(phone.org.enrollment(999_999)))
        try await phone.enroll()
    }

    /// Run alone, it enrolls a few times. As the child of the test above, it enrolls until it is killed.
    @Test("Three enrollments in sequence are all stored")
    func enrollsAgainAndAgain() async throws {
        let path = ProcessInfo.processInfo.environment[Self.variable]
        let phone = try TestPhone(folder: path.map { TemporaryFolder(keeping: URL(fileURLWithPath: $0)) } ?? TemporaryFolder())
        for number in 1...(path == nil ? 3 : 100_000) {
            phone.org.answer(.enroll, .json(phone.org.enrollment(number)))
            let enrollment = try await phone.enroll()
            if path != nil {
                try FileHandle.standardOutput.write(contentsOf: Data("\(Self.prefix)\(enrollment.enrollmentId)\n".utf8))
            }
        }
        #expect(try phone.authenticator.enrollments().count == 3)
    }
}
#endif
