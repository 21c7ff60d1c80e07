/// A definition contradicts itself or asks for what the server does not do.
package struct OrganizationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// One thing that is wrong.
    package struct Problem: Sendable, Equatable {
        /// A step to the place in the definition.
        package enum Step: Sendable, Hashable {
            /// A member, by the name of the definition's property.
            case key(String)
            /// An element, counted from 0.
            case index(Int)
        }

        /// Where: `applications`, 2, `redirectURIs`, 0.
        package var path: [Step]
        /// What is wrong, and what to write instead.
        package var message: String

        /// Describes a problem.
        package init(_ path: [Step], _ message: String) {
            self.path = path
            self.message = message
        }

        /// The path in one word: `applications[2].redirectURIs[0]`.
        package var place: String {
            path.reduce(into: "") { text, step in
                switch step {
                case .key(let key): text += text.isEmpty ? key : "." + key
                case .index(let index): text += "[\(index)]"
                }
            }
        }
    }

    /// Everything that is wrong, in the order of the definition.
    package var problems: [Problem]

    /// One line per problem.
    package var description: String {
        problems.map { "\($0.place): \($0.message)" }.joined(separator: "\n")
    }
}
