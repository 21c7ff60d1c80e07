internal import Foundation
package import IdentityCore
internal import JOSE
package import SignInPages
internal import StoreSQLite
internal import Yams

/// The org file: an organization written down in YAML, and how the server that runs it is set up.
///
/// ```swift
/// let file = try OrgFile.load(path: "org.yaml", environment: ProcessInfo.processInfo.environment)
/// let report = try await engine.apply(file.organization, context: context)
/// ```
///
/// A value. The keys are described by ``template``. A value that is `${NAME}` or `env:NAME` as a whole is taken from the
/// environment. Lists that restrict (`clients`, `grant_types`, `groups`, `scopes` of rules) restrict nothing when absent or
/// `any`. Times are seconds, or a number with a unit: `30m`, `1h`, `7d`.
package struct OrgFile: Sendable, Equatable, Redacted {
    /// The organization.
    package var organization: OrganizationDefinition
    /// The values of the section `server`, by key with dashes; lists are joined by commas. What they mean is the server's
    /// start to say.
    package var server: [String: String]
    /// How the hosted pages look.
    package var branding: Branding
    /// How mails, texts and calls are sent.
    package var messages: MessageSettings
    /// The lists of breached passwords that new passwords are compared with.
    package var breachedPasswords: BreachedPasswordSettings
    /// What is allowed, and most likely not meant, by line; what to write instead is told.
    package var warnings: [OrgFileError.Problem] = []

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - path: The file, in UTF-8.
    ///   - environment: What `${NAME}` is looked up in.
    ///   - origin: Replaces the file's `origin`; nil keeps it.
    ///   - hasTokenService: Whether the server has a `TokenService`; a file that offers tokens of other systems to a server without one is
    ///     refused.
    /// - Returns: What the file says, checked.
    /// - Throws: ``OrgFileError`` with everything that is wrong.
    package static func load(
        path: String, environment: [String: String] = [:], origin: String? = nil, hasTokenService: Bool = false
    ) throws -> OrgFile {
        let data: Data
        do {
            try FileProtection.checkConfiguration(path)
            data = try Data(contentsOf: URL(fileURLWithPath: path))
        } catch let error as FileProtection.Unsafe {
            throw OrgFileError(file: path, problems: [problem(error.message)])
        } catch {
            throw OrgFileError(
                file: path,
                problems: [problem("The file can not be read: \(error.localizedDescription) Write one with: countersign init.")])
        }
        guard let yaml = String(data: data, encoding: .utf8) else {
            throw OrgFileError(file: path, problems: [problem("The file is not UTF-8. Save it as UTF-8.")])
        }
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        return try load(
            yaml: yaml, name: path, environment: environment, origin: origin, folder: folder, hasTokenService: hasTokenService)
    }

    /// Reads a file's text.
    ///
    /// - Parameters:
    ///   - yaml: The text.
    ///   - name: What errors call it.
    ///   - environment: What `${NAME}` is looked up in.
    ///   - origin: Replaces the text's `origin`; nil keeps it.
    ///   - hasTokenService: Whether the server has a `TokenService`; a text that offers tokens of other systems to a server without one is
    ///     refused.
    /// - Returns: What the text says, checked.
    /// - Throws: ``OrgFileError`` with everything that is wrong.
    package static func load(
        yaml: String, name: String = "org.yaml", environment: [String: String] = [:], origin: String? = nil, hasTokenService: Bool = false
    ) throws -> OrgFile {
        try load(yaml: yaml, name: name, environment: environment, origin: origin, folder: nil, hasTokenService: hasTokenService)
    }

    private static func load(
        yaml: String, name: String, environment: [String: String], origin: String?, folder: String?, hasTokenService: Bool
    ) throws -> OrgFile {
        let source = OrgFileSource(environment: environment, folder: folder)
        let root: Node
        do {
            guard let node = try compose(yaml: yaml) else {
                throw OrgFileError(file: name, problems: [problem("The file is empty. Write one with: countersign init.")])
            }
            root = node
        } catch let error as YamlError {
            throw OrgFileError(file: name, problems: [syntaxProblem(error)])
        }
        guard let section = OrgFileSection(root, path: [], key: "", source: source) else {
            throw OrgFileError(file: name, problems: source.problems)
        }
        var file = OrgFile(section, origin: origin)
        // What does not read is not there, and what is not there would be reported a second time, misleadingly.
        if source.problems.isEmpty {
            source.add(file.organization.problems())
            if !hasTokenService { source.add(file.organization.problemsWithoutTokenService()) }
        }
        guard source.problems.isEmpty else {
            throw OrgFileError(file: name, problems: source.problems.sorted { ($0.line, $0.column) < ($1.line, $1.column) })
        }
        file.warnings = source.located(file.organization.warnings()).sorted { ($0.line, $0.column) < ($1.line, $1.column) }
        return file
    }

    private static func problem(_ message: String) -> OrgFileError.Problem {
        OrgFileError.Problem(line: 0, column: 0, key: "", message: message)
    }

    private static func syntaxProblem(_ error: YamlError) -> OrgFileError.Problem {
        switch error {
        case .scanner(_, let text, let mark, _), .parser(_, let text, let mark, _), .composer(_, let text, let mark, _):
            OrgFileError.Problem(
                line: mark.line, column: mark.column, key: "", message: "This is no YAML: \(text). Look at indentation, colons and quotes.")
        case .duplicatedKeysInMapping(let duplicates, let context):
            OrgFileError.Problem(
                line: context.mark.line, column: context.mark.column, key: duplicates.joined(separator: ", "),
                message: "The key is there twice in this section. Remove one.")
        default:
            problem("This is no YAML: \(error).")
        }
    }
}

/// An org file can not be used; everything that is wrong with it, with line, key and fix.
public struct OrgFileError: Error, Sendable, Equatable, CustomStringConvertible {
    /// One thing that is wrong.
    public struct Problem: Sendable, Equatable, CustomStringConvertible {
        /// The line, from 1; 0 if the file as a whole is meant.
        public var line: Int
        /// The column, from 1; 0 if the file as a whole is meant.
        public var column: Int
        /// The key as the file spells it: `applications[2].redirect_uris[0]`; empty if it is no key's.
        public var key: String
        /// What is wrong, and what to write instead.
        public var message: String

        /// Place, key and message, as compilers print them.
        public var description: String {
            (line > 0 ? "\(line):\(column): " : "") + (key.isEmpty ? "" : "\(key): ") + message
        }
    }

    /// The file's name.
    public var file: String
    /// What is wrong, by line.
    public var problems: [Problem]

    /// One line per problem, each beginning with the file's name and the line.
    public var description: String {
        problems.map { "\(file):\($0.line > 0 ? "" : " ")\($0)" }.joined(separator: "\n")
    }
}
