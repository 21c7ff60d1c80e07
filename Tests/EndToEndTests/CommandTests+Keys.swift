import Foundation
import TestSupport
import Testing

/// Tests the rotation of a running server's signing keys.
extension CommandTests {
    @Test("countersign keys rotate --now requires --force if clients cannot have fetched the new key yet", .timeLimit(.minutes(5)))
    func immediateRotation() async throws {
        let folder = try TemporaryFolder()
        let config = try folder.write(
            OrganizationText.head(name: "Rotating", group: "Staff") + "\n      - name: All\n        rules: [{name: All}]\n", to: "org.yaml")
        let data = folder.path + "data"
        let server = try await ServerProcess(config: config, data: data, port: 0)
        func rotate(_ flags: String...) async throws -> Command.Ended {
            try await Command.run(["keys", "rotate", "--config", config, "--data", data] + flags)
        }
        // The organization is new: it has one key and no next key.
        let fresh = try await rotate("--now")
        #expect(fresh.status == 1 && fresh.output.isEmpty, "\(fresh.output)")
        #expect(fresh.errors.contains("countersign keys rotate") && fresh.errors.contains("--force"), "\(fresh.errors)")
        let published = try await rotate()
        #expect(published.status == 0 && published.output.contains("published, signs from"), "\(published.errors)")
        // The next key has just been published.
        let early = try await rotate("--now")
        #expect(early.status == 1 && early.errors.contains("--force"), "\(early.errors)")
        let forced = try await rotate("--now", "--force")
        #expect(forced.status == 0 && forced.output.contains("signs from now on"), "\(forced.errors)")
        #expect(try await rotate("--force").status == 64)
        server.kill()
        await server.waitUntilEnded()
    }
}
