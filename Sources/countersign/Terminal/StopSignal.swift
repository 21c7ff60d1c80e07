import Dispatch
import Foundation

/// Waits until the process is asked to end: by Ctrl-C, or by its supervisor.
enum StopSignal {
    static func wait() async {
        let (signals, heard) = AsyncStream.makeStream(of: Void.self)
        let sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { heard.yield() }
            source.resume()
            return source
        }
        for await _ in signals { break }
        for source in sources { source.cancel() }
    }
}
