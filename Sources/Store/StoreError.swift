/// A failure of the store. Conflicts are outcomes, not errors.
package struct StoreError: Error, Sendable, CustomStringConvertible {
    package struct Code: Hashable, Sendable {
        let name: String

        package static let closed = Code(name: "closed")
        /// The disk or the database failed.
        package static let unavailable = Code(name: "unavailable")
        /// A newer version of the server wrote the data.
        package static let newerVersion = Code(name: "newerVersion")
        /// Stored data cannot be read.
        package static let damaged = Code(name: "damaged")
        /// The store was sealed with another master key.
        package static let wrongMasterKey = Code(name: "wrongMasterKey")
        /// Other users of the machine may read or change the store's files.
        package static let unsafeFile = Code(name: "unsafeFile")
        /// No store can hold the change, for example because a key contains NUL.
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
