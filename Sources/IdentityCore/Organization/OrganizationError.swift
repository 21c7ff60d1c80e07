/// The errors of an organization's definition.
package struct OrganizationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// One error in the definition.
    package struct Problem: Sendable, Equatable {
        /// A step of the path to a place in the definition.
        package enum Step: Sendable, Hashable {
            /// A property, by its name.
            case key(String)
            /// An element, counted from 0.
            case index(Int)
        }

        /// The place, for example `applications`, 2, `redirectURIs`, 0.
        package var path: [Step]
        /// The error and its correction.
        package var message: String

        package init(_ path: [Step], _ message: String) {
            self.path = path
            self.message = message
        }

        /// The path as text: `applications[2].redirectURIs[0]`.
        package var place: String {
            path.reduce(into: "") { text, step in
                switch step {
                case .key(let key): text += text.isEmpty ? key : "." + key
                case .index(let index): text += "[\(index)]"
                }
            }
        }
    }

    /// All errors of the definition.
    package var problems: [Problem]

    /// One line per error.
    package var description: String {
        problems.map { "\($0.place): \($0.message)" }.joined(separator: "\n")
    }
}
