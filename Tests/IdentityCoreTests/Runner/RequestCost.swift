import TestSupport
import Testing

@testable import IdentityCore

/// Counts the store reads and commits of requests.
///
/// A request that changes state makes one read and one commit; a request that changes nothing makes one read. Each test that expects other
/// numbers gives the reason in a comment.
struct RequestCost {
    let store = MeteredStore()

    /// Runs one request and compares its cost.
    /// - Parameter undeclared: The queries that the lookups of the reads do not declare. On a database, each takes another round trip. Each
    ///   test that expects one gives the reason in a comment.
    @discardableResult
    func expect<Answer>(
        reads: Int = 1, commits: Int = 1, undeclared: Int = 0, location: SourceLocation = #_sourceLocation,
        _ request: () async throws -> Answer
    ) async throws -> Answer {
        _ = store.take()
        let answer = try await request()
        let counts = store.take()
        #expect(counts["read", default: 0] == reads, "reads: \(counts)", sourceLocation: location)
        #expect(counts["commit", default: 0] == commits, "commits: \(counts)", sourceLocation: location)
        let queries = counts.filter { $0.key.hasPrefix("undeclared") }
        #expect(queries.values.reduce(0, +) == undeclared, "\(queries)", sourceLocation: location)
        #expect(counts["records enrollment by user", default: 0] <= reads, "lists of factors: \(counts)", sourceLocation: location)
        return answer
    }
}

extension PushFixture {
    /// Applies the organization again with another change.
    func reapply(_ change: (inout OrganizationDefinition) -> Void) async throws {
        var definition = Self.definition
        change(&definition)
        _ = try await engine.apply(definition, context: Self.context(2))
    }
}
