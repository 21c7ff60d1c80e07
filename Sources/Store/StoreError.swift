/// A failure of the store itself; conflicts are outcomes, not errors.
package struct StoreError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it was.
    package struct Code: Hashable, Sendable {
        let name: String

        /// The store was closed.
        package static let closed = Code(name: "closed")
        /// The disk, or the database under the store, failed.
        package static let unavailable = Code(name: "unavailable")
        /// The data was written by a newer version of the server.
        package static let newerVersion = Code(name: "newerVersion")
        /// Stored data could not be read back.
        package static let damaged = Code(name: "damaged")
        /// Another master key sealed the store.
        package static let wrongMasterKey = Code(name: "wrongMasterKey")
        /// Other users of the machine may change or read the files of the store.
        package static let unsafeFile = Code(name: "unsafeFile")
        /// The change cannot be stored by any store, such as a key with a NUL in it.
        package static let invalid = Code(name: "invalid")
    }

    /// What kind of failure it was.
    package var code: Code
    /// What happened and what to do next, for the operator.
    package var message: String
    /// The error under it.
    package var underlying: (any Error)?

    /// Makes an error.
    package init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }

    /// The code and the message.
    package var description: String {
        "store \(code.name): \(message)" + (underlying.map { " (\($0))" } ?? "")
    }
}

extension StoreError: Equatable {
    /// Errors are equal by code.
    package static func == (a: StoreError, b: StoreError) -> Bool { a.code == b.code }
}
