internal import CTestSupport

/// Returns the processor time of this thread in nanoseconds.
public func processorTime() -> Int { Int(threadProcessorTime()) }
