@available(iOS 16.0, macOS 13.0, tvOS 16.0, visionOS 1.0, watchOS 9.0, *)
public struct OSAllocatedUnfairLock<State>: @unchecked Sendable {
    public init(initialState: State) where State: Sendable { stub() }

    public func withLock<R: Sendable>(_ body: @Sendable (inout State) throws -> R) rethrows -> R { stub() }
}
