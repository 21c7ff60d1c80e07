internal import IdentityCore
internal import Yams

/// What is known of a file while it is read: where everything stands, and what is wrong.
final class OrgFileSource {
    typealias Step = OrganizationError.Problem.Step

    private struct Place {
        var line: Int
        var column: Int
        var key: String
    }

    let environment: [String: String]
    /// Where names of files count from; nil for the process's own folder.
    let folder: String?
    private(set) var problems: [OrgFileError.Problem] = []
    /// By the path in the definition, whose names differ from the file's.
    private var places: [[Step]: Place] = [:]

    init(environment: [String: String], folder: String?) {
        self.environment = environment
        self.folder = folder
    }

    /// Remembers where a part of the definition stands in the file.
    func note(_ path: [Step], _ node: Node, key: String) {
        places[path] = Place(line: node.mark?.line ?? 0, column: node.mark?.column ?? 0, key: key)
    }

    func add(_ message: String, at node: Node, key: String) {
        problems.append(OrgFileError.Problem(line: node.mark?.line ?? 0, column: node.mark?.column ?? 0, key: key, message: message))
    }

    /// Takes over what the engine found.
    func add(_ found: [OrganizationError.Problem]) { problems += located(found) }

    /// What the engine found, each at the nearest place that the file has for it.
    func located(_ found: [OrganizationError.Problem]) -> [OrgFileError.Problem] {
        found.map { problem in
            var path = problem.path
            while places[path] == nil && !path.isEmpty { path.removeLast() }
            let place = places[path] ?? Place(line: 0, column: 0, key: "")
            let rest = OrganizationError.Problem(Array(problem.path.dropFirst(path.count)), "").place.snakeCased
            let key = rest.isEmpty || rest.hasPrefix("[") || place.key.isEmpty ? place.key + rest : place.key + "." + rest
            return OrgFileError.Problem(line: place.line, column: place.column, key: key, message: problem.message)
        }
    }
}

extension String {
    /// `accessTokenLifetime` as `access_token_lifetime`.
    var snakeCased: String {
        let characters = Array(replacing("URIs", with: "Uris").replacing("API", with: "Api"))
        return String(
            characters.enumerated().flatMap { index, character in
                character.isUppercase ? (index > 0 ? ["_"] : []) + Array(character.lowercased()) : [character]
            })
    }

    /// `access_token_lifetime` as `accessTokenLifetime`, and `redirect_uris` as `redirectURIs`.
    var camelCased: String {
        let words = split(separator: "_").map(String.init)
        let rest = words.dropFirst().map { word in
            switch word {
            case "uri": "URI"
            case "uris": "URIs"
            case "ids": "IDs"
            case "api": "API"
            default: word.prefix(1).uppercased() + word.dropFirst()
            }
        }
        return words.prefix(1).joined() + rest.joined()
    }
}
