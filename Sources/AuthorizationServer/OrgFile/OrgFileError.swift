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
