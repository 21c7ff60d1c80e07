import AuthFoundation
import Testing

/// An error of a client module, and the values that it contains.
struct ErrorSample: Sendable, CustomTestStringConvertible {
    /// A value that no text may contain. The samples put it where an error can carry a secret.
    static let secret = "planted-secret"

    static let all: [ErrorSample] = joseErrors + foundationErrors + serverErrors + flowErrors + deviceErrors + classicErrors

    /// The names of the case, and of the code or reason, as in `API/<module>.txt`, such as `APIClientError.statusCode`.
    let names: [String]
    let error: any ClientError
    /// The codes, status and IDs that the technical description must contain.
    let details: [String]

    var testDescription: String { names.joined(separator: ", ") + (details.isEmpty ? "" : " (\(details.joined(separator: " ")))") }

    /// Creates a sample of an enum.
    init(_ error: some ClientError & NamedCase, _ details: String...) {
        self.init([error.name], error, details)
    }

    /// Creates a sample of a structure.
    init(_ names: [String], _ error: any ClientError, _ details: [String] = []) {
        (self.names, self.error, self.details) = (names, error, details)
    }
}

/// An error enum whose cases have names. Each conformance switches over all cases, so that a new case does not compile until it is named
/// here. The published names then require a sample.
protocol NamedCase {
    static var typeName: String { get }
    var caseName: String { get }
}

extension NamedCase {
    var name: String { "\(Self.typeName).\(caseName)" }
}
