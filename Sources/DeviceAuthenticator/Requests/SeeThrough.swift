/// Runs what the server may act on, and what is stored of it, to its end: the caller's cancellation does not reach it.
///
/// Otherwise keys would be deleted that the server has accepted. A caller that was cancelled before does not begin; one that was cancelled
/// meanwhile waits, which the time-outs of the requests bound, and reports it afterwards.
///
/// - Throws: `CancellationError` if the task was cancelled before; what the work throws.
func seeThrough<Result: Sendable>(_ work: @escaping @Sendable () async throws -> Result) async throws -> Result {
    try Task.checkCancellation()
    return try await Task { try await work() }.value
}
