/// A failure of the store. Conflicts are outcomes, not errors.
package struct StoreError: Error, Sendable, CustomStringConvertible {
    package struct Code: Hashable, Sendable {
        let name: String

        package static let closed = Code(name: "closed")
        /// The disk or the database failed.
        package static let unavailable = Code(name: "unavailable")
        /// The database server cannot be reached now. A later attempt may succeed.
        package static let unreachable = Code(name: "unreachable")
        /// A newer version of the server wrote the data.
        package static let newerVersion = Code(name: "newerVersion")
        /// Stored data cannot be read.
        package static let damaged = Code(name: "damaged")
        /// The store was sealed with another master key.
        package static let wrongMasterKey = Code(name: "wrongMasterKey")
        /// Other users of the machine may read or change the store's files.
        package static let unsafeFile = Code(name: "unsafeFile")
        /// The input is invalid: for example a key that contains NUL, or a copy into a database with other data.
        package static let invalid = Code(name: "invalid")
    }

    package var code: Code
    /// The problem and the fix, for the operator.
    package var message: String
    package var underlying: (any Error)?

    package init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        (self.code, self.message, self.underlying) = (code, message, underlying)
    }

    package var description: String {
        "store \(code.name): \(message)" + (underlying.map { " (\($0))" } ?? "")
    }
}

extension StoreError: Equatable {
    /// Errors are equal if their codes are equal.
    package static func == (a: StoreError, b: StoreError) -> Bool { a.code == b.code }
}

extension StoreError {
    /// Returns the error for a database that is the target of an unfinished copy. A server must not use a part of the data, such as grants
    /// without the record that revokes them.
    package static func unfinishedCopy(_ place: String) -> StoreError {
        StoreError(
            .unavailable,
            "The database \(place) is the target of an unfinished copy. Complete it with “countersign store copy”, or empty the database.")
    }
}
