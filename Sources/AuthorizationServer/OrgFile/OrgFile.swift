internal import Foundation
package import IdentityCore
internal import JOSE
package import SignInPages
internal import StoreSQLite
internal import Yams

/// The org file: an organization and its server settings in YAML.
///
/// ```swift
/// let file = try OrgFile.load(path: "org.yaml", environment: ProcessInfo.processInfo.environment)
/// let report = try await engine.apply(file.organization, context: context)
/// ```
///
/// ``template`` describes the keys. A value that is exactly `${NAME}` or `env:NAME` is read from the environment. Lists that restrict
/// (`clients`, `grant_types`, `groups`, `scopes` of rules) restrict nothing if they are absent or `any`. Durations are seconds, or a number
/// with a unit: `30m`, `1h`, `7d`.
package struct OrgFile: Sendable, Equatable, Redacted {
    package var organization: OrganizationDefinition
    /// Raw values of the section `server`, by key with dashes; lists are joined with commas. `AuthorizationServer.Configuration` interprets
    /// them.
    package var server: [String: String]
    package var branding: Branding
    package var messages: MessageSettings
    package var breachedPasswords: BreachedPasswordSettings
    /// Settings that are allowed but probably unintended, ordered by line, each with a suggestion.
    package var warnings: [OrgFileError.Problem] = []

    /// Whether the sections that the server reads only at start are the same in both files.
    func sharesStartSections(with other: OrgFile) -> Bool {
        (server, branding, messages, breachedPasswords) == (other.server, other.branding, other.messages, other.breachedPasswords)
    }

    /// Reads and checks a UTF-8 file.
    /// - Parameters:
    ///   - environment: Values for `${NAME}`.
    ///   - origin: Replaces the file's `origin`; `nil` keeps it.
    ///   - hasTokenService: Whether the server has a `TokenService`. Without one, a file that offers tokens of other systems is rejected.
    /// - Throws: ``OrgFileError`` with all problems.
    package static func load(
        path: String, environment: [String: String] = [:], origin: String? = nil, hasTokenService: Bool = false
    ) throws -> OrgFile {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        return try load(
            yaml: text(path), name: path, environment: environment, origin: origin, folder: folder, hasTokenService: hasTokenService)
    }

    /// Reads the section `server` and checks nothing else. For a command on the stored configuration, which needs no valid org file.
    /// - Throws: ``OrgFileError`` if the file cannot be read, or is no YAML.
    package static func serverSettings(path: String) throws -> [String: String] {
        let source = OrgFileSource(environment: [:], folder: nil)
        guard let root = OrgFileSection(try root(text(path), name: path), path: [], key: "", source: source) else {
            throw OrgFileError(file: path, problems: source.problems)
        }
        return root.section("server")?.settings ?? [:]
    }

    private static func text(_ path: String) throws -> String {
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
        return yaml
    }

    private static func root(_ yaml: String, name: String) throws -> Node {
        do {
            guard let node = try compose(yaml: yaml) else {
                throw OrgFileError(file: name, problems: [problem("The file is empty. Write one with: countersign init.")])
            }
            return node
        } catch let error as YamlError {
            throw OrgFileError(file: name, problems: [syntaxProblem(error)])
        }
    }

    /// Reads and checks the text of an org file. `name` identifies the file in errors. For the other parameters, see the overload with
    /// `path`.
    package static func load(
        yaml: String, name: String = "org.yaml", environment: [String: String] = [:], origin: String? = nil, hasTokenService: Bool = false
    ) throws -> OrgFile {
        try load(yaml: yaml, name: name, environment: environment, origin: origin, folder: nil, hasTokenService: hasTokenService)
    }

    private static func load(
        yaml: String, name: String, environment: [String: String], origin: String?, folder: String?, hasTokenService: Bool
    ) throws -> OrgFile {
        let source = OrgFileSource(environment: environment, folder: folder)
        guard let section = OrgFileSection(try root(yaml, name: name), path: [], key: "", source: source) else {
            throw OrgFileError(file: name, problems: source.problems)
        }
        var file = OrgFile(section, origin: origin)
        // A value that cannot be read is missing from the result; further checks would report it again, misleadingly.
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

/// The error for an invalid org file: all problems, each with its place and a fix.
public struct OrgFileError: Error, Sendable, Equatable, CustomStringConvertible {
    /// One problem in an org file.
    public struct Problem: Sendable, Equatable, CustomStringConvertible {
        /// The line, starting at 1; 0 if the problem concerns the whole file.
        public var line: Int
        /// The column, starting at 1; 0 if the problem concerns the whole file.
        public var column: Int
        /// The key as the file spells it, such as `applications[2].redirect_uris[0]`; empty if the problem concerns no key.
        public var key: String
        /// The problem, and what to write instead.
        public var message: String

        /// Line, column, key and message, in the format of compiler diagnostics.
        public var description: String {
            (line > 0 ? "\(line):\(column): " : "") + (key.isEmpty ? "" : "\(key): ") + message
        }
    }

    /// The path or name of the file.
    public var file: String
    /// The problems, ordered by line.
    public var problems: [Problem]

    /// One line per problem, each starting with the file's name and the line.
    public var description: String {
        problems.map { "\(file):\($0.line > 0 ? "" : " ")\($0)" }.joined(separator: "\n")
    }
}
