package import IdentityCore
package import JOSE
internal import Yams

extension OrgFile {
    /// Reads one application from a JSON entry with the keys of the org file's list `applications`. Checks the application as a part of the
    /// organization, where it replaces the application with the same id. Does not read environment variables or files.
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
        // If the entry cannot be read, it is missing from the result; further checks would report it again.
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
    init(_ json: JSONValue) {
        switch json {
        case .null: self = .scalar(Scalar("null"))
        case .bool(let flag): self = .scalar(Scalar(flag ? "true" : "false"))
        case .integer(let number): self = .scalar(Scalar(String(number)))
        case .double(let number):
            let text = String(number)
            // Without a point, the file would read the number as a text: 1e+20.
            self = .scalar(Scalar(text.contains(".") ? text : text.replacing("e", with: ".0e")))
        case .string(let text): self = .scalar(Scalar(text, Tag(.str), .doubleQuoted))
        case .array(let elements): self = .sequence(Sequence(elements.map(Node.init)))
        case .object(let members):
            self = .mapping(Mapping(members.sorted { $0.key < $1.key }.map { (Node.scalar(Scalar($0.key)), Node($0.value)) }))
        }
    }
}
