import Foundation
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The command as a process that goes on while the test does.
final class RunningCommand: Sendable {
    /// The process ended before it wrote what was waited for.
    struct NotWritten: Error, CustomStringConvertible { let description: String }

    /// How the process is connected.
    enum Connection: Sendable {
        /// With that text as its standard input.
        case input(String)
        /// To a terminal, on which the test types.
        case terminal
    }

    private let process: Process
    private let chunks: AsyncStream<Data>
    private let text = Text()
    private let ended: AsyncStream<Int32>
    private let keyboard: FileHandle?
    /// Holds the file that is the standard input.
    private let folder: TemporaryFolder

    /// What was written up to now.
    private actor Text {
        private(set) var all = ""
        private var seen = 0

        func add(_ data: Data) { all += String(decoding: data, as: UTF8.self) }

        /// What comes up to the end of a text, of what was not taken before.
        func take(through needle: String) -> String? {
            let rest = all.dropFirst(seen)
            guard let range = rest.range(of: needle) else { return nil }
            let taken = rest[..<range.upperBound]
            seen += taken.count
            return String(taken)
        }
    }

    /// Starts it.
    ///
    /// - Parameters:
    ///   - arguments: Its arguments.
    ///   - connection: What it reads from. What it writes, to both of its outputs, is one text here.
    ///   - environment: Variables beside those of the test.
    init(_ arguments: [String], _ connection: Connection = .input(""), environment: [String: String] = [:]) throws {
        process = Process()
        process.executableURL = try Command.executable
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        folder = try TemporaryFolder()
        let reader: FileHandle
        var ours: FileHandle?
        switch connection {
        case .input(let text):
            try Data(text.utf8).write(to: folder.url.appending(path: "in"))
            process.standardInput = try FileHandle(forReadingFrom: folder.url.appending(path: "in"))
            let pipe = Pipe()
            process.standardOutput = pipe
            process.standardError = pipe
            reader = pipe.fileHandleForReading
            keyboard = nil
        case .terminal:
            let terminal = try PseudoTerminal()
            process.standardInput = terminal.theirs
            process.standardOutput = terminal.theirs
            process.standardError = terminal.theirs
            reader = terminal.ours
            keyboard = terminal.ours
            ours = terminal.theirs
        }
        let (ended, end) = AsyncStream.makeStream(of: Int32.self)
        process.terminationHandler = {
            // A signal that nobody handled is no status.
            end.yield($0.terminationReason == .exit ? $0.terminationStatus : -$0.terminationStatus)
            end.finish()
        }
        self.ended = ended
        let (chunks, chunk) = AsyncStream.makeStream(of: Data.self)
        self.chunks = chunks
        // On a thread of its own and not by a handler: the end of a terminal is an error, which `availableData` does not survive.
        Thread.detachNewThread {
            var bytes = [UInt8](repeating: 0, count: 4096)
            while case let count = read(reader.fileDescriptor, &bytes, bytes.count), count > 0 { chunk.yield(Data(bytes[..<count])) }
            chunk.finish()
        }
        try process.run()
        try ours?.close()
    }

    deinit {
        // A test that failed in between must not leave it behind.
        if process.isRunning { process.terminate() }
    }

    /// Waits until the process has written a text.
    ///
    /// - Returns: What it wrote since the last call, that text included.
    /// - Throws: ``NotWritten`` if it ended before.
    @discardableResult
    func waitFor(_ needle: String) async throws -> String {
        if let taken = await text.take(through: needle) { return taken }
        for await data in chunks {
            await text.add(data)
            if let taken = await text.take(through: needle) { return taken }
        }
        throw NotWritten(description: "“\(needle)” is not in: \(await text.all)")
    }

    /// Types a line on its terminal.
    func type(_ line: String) throws {
        try keyboard?.write(contentsOf: Data((line + "\n").utf8))
    }

    /// Presses Ctrl-C.
    func interrupt() { process.interrupt() }

    /// Waits until the process has ended.
    ///
    /// - Returns: The status, negative for a signal that ended it; and all that it wrote.
    func end() async -> (status: Int32, text: String) {
        for await data in chunks { await text.add(data) }
        var status = Int32.min
        for await code in ended { status = code }
        return (status, await text.all)
    }
}

/// Both ends of a terminal without a screen.
private struct PseudoTerminal {
    let ours: FileHandle
    let theirs: FileHandle

    init() throws {
        var descriptors: (ours: Int32, theirs: Int32) = (-1, -1)
        try #require(openpty(&descriptors.ours, &descriptors.theirs, nil, nil, nil) == 0, "There are no terminals.")
        ours = FileHandle(fileDescriptor: descriptors.ours, closeOnDealloc: true)
        theirs = FileHandle(fileDescriptor: descriptors.theirs, closeOnDealloc: true)
    }
}
