import ArgumentParser
import AuthorizationServer
import Foundation

/// Writes a commented org file.
struct InitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Write a commented org file to begin with.",
        discussion: "An existing file is never overwritten.")

    @Argument(help: "The file to write.")
    var file = "org.yaml"

    func run() async throws {
        try await Outcome.of {
            do {
                try Data(OrgFile.template.utf8).write(to: URL(filePath: file), options: .withoutOverwriting)
            } catch let error as CocoaError where error.code == .fileWriteFileExists {
                throw CommandFailure("\(file) exists already; it was left as it is. Name another file.")
            }
            Terminal.write("Wrote \(file). Edit it, then: countersign serve --config \(file) --data data")
        }
    }
}
