package import IdentityCore
package import JOSE
internal import Yams

extension OrgFile {
    /// Reads one application from a JSON entry of the org file's list `applications`, and checks it against the rest of an organization.
    /// Reads neither the environment nor files.
    ///
    /// - Parameters:
    ///   - entry: The entry, with the org file's keys.
    ///   - organization: The organization that the application is added to, or whose application with that id it replaces.
    /// - Returns: The application.
    /// - Throws: ``OrgFileError`` that lists every problem.
    package static func application(_ entry: JSONValue, in organization: OrganizationDefinition) throws(OrgFileError) -> Application {
        let source = OrgFileSource(environment: [:], folder: nil)
        let node = Node(entry)
        let id = entry["id"]?.stringValue
        let index = organization.applications.firstIndex { $0.id == id } ?? organization.applications.count
        func failure() -> OrgFileError { OrgFileError(file: "application", problems: source.problems) }
        guard let section = OrgFileSection(node, path: [.key("applications"), .index(index)], key: "", source: source) else {
            throw failure()
        }
        let application = Application(entry: section)
        section.reportUnknownKeys()
        // An entry that can't be read is missing from the result; checking further would report it a second time.
        guard source.problems.isEmpty else { throw failure() }
        var whole = organization
        whole.applications.removeAll { $0.id == application.id }
        whole.applications.insert(application, at: min(index, whole.applications.count))
        source.add(whole.problems())
        guard source.problems.isEmpty else { throw failure() }
        return application
    }
}

extension Node {
    /// Converts a JSON value to YAML.
    fileprivate init(_ json: JSONValue) {
        switch json {
        case .null: self = .scalar(Scalar("null"))
        case .bool(let flag): self = .scalar(Scalar(flag ? "true" : "false"))
        case .integer(let number): self = .scalar(Scalar(String(number)))
        case .double(let number): self = .scalar(Scalar(String(number)))
        // Quoted, so that YAML does not read a string as a number or as null.
        case .string(let text): self = .scalar(Scalar(text, Tag(.str), .doubleQuoted))
        case .array(let elements): self = .sequence(Sequence(elements.map(Node.init)))
        case .object(let members):
            self = .mapping(Mapping(members.sorted { $0.key < $1.key }.map { (Node.scalar(Scalar($0.key)), Node($0.value)) }))
        }
    }
}
