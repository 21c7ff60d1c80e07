internal import IdentityCore
internal import Yams

/// The state while an org file is read: the places of its values, and the problems found.
final class OrgFileSource {
    typealias Step = OrganizationError.Problem.Step

    private struct Place {
        var line: Int
        var column: Int
        var key: String
    }

    let environment: [String: String]
    /// The base folder of relative paths; `nil` for the current directory.
    let folder: String?
    private(set) var problems: [OrgFileError.Problem] = []
    /// The places in the file, by the path in the definition. The definition's names differ from the file's keys.
    private var places: [[Step]: Place] = [:]

    init(environment: [String: String], folder: String?) {
        self.environment = environment
        self.folder = folder
    }

    /// Records the place of a part of the definition in the file.
    func note(_ path: [Step], _ node: Node, key: String) {
        places[path] = Place(line: node.mark?.line ?? 0, column: node.mark?.column ?? 0, key: key)
    }

    func add(_ message: String, at node: Node, key: String) {
        problems.append(OrgFileError.Problem(line: node.mark?.line ?? 0, column: node.mark?.column ?? 0, key: key, message: message))
    }

    /// Adds the engine's problems.
    func add(_ found: [OrganizationError.Problem]) { problems += located(found) }

    /// Converts the engine's problems, each with its nearest known place in the file.
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
    /// Converts `accessTokenLifetime` to `access_token_lifetime`.
    var snakeCased: String {
        let characters = Array(replacing("URIs", with: "Uris").replacing("API", with: "Api"))
        return String(
            characters.enumerated().flatMap { index, character in
                character.isUppercase ? (index > 0 ? ["_"] : []) + Array(character.lowercased()) : [character]
            })
    }

    /// Converts `access_token_lifetime` to `accessTokenLifetime`, and `redirect_uris` to `redirectURIs`.
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
