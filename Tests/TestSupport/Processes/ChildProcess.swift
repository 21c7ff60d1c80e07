internal import AuthFoundation
public import Foundation

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A program that runs beside the test, as a child of its process.
///
/// Nothing here blocks a cooperative thread. A process that nobody holds any more is killed, and so is one whose end is waited for by a
/// task that is cancelled, as a time limit does.
public final class ChildProcess: Sendable {
    /// How a process is connected.
    public enum Connection: Sendable {
        /// With that text as its standard input.
        case input(String)
        /// To a terminal, on which the test types.
        case terminal
    }

    /// How a program ended, and what it wrote.
    public struct Ended: Sendable {
        /// Its status; negative for a signal that ended it.
        public let status: Int32
        /// What it wrote to its standard output.
        public let output: String
        /// What it wrote to its standard error.
        public let errors: String
    }

    /// The process ended before it wrote what was waited for.
    public struct NotWritten: Error, CustomStringConvertible {
        /// What was waited for, and what was written.
        public let description: String
    }

    /// What it wrote, as far as the test has read it.
    private struct Written {
        var all = Data()
        /// How much of it was returned by `waitFor`.
        var seen = 0
    }

    private let process: SpawnedProcess
    private let chunks: AsyncStream<Data>
    private let written = Locked(Written())
    private let keyboard: FileHandle?

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - executable: The file.
    ///   - arguments: Its arguments.
    ///   - connection: What it reads from. What it writes, to both of its outputs, is one text here.
    ///   - environment: Variables beside those of the test.
    ///   - workingDirectory: Where it starts; nil for where the test is.
    /// - Throws: If it can't be started.
    public init(
        _ executable: URL, _ arguments: [String], _ connection: Connection = .input(""), environment: [String: String] = [:],
        workingDirectory: URL? = nil
    ) throws {
        let input: FileHandle
        let (reader, output): (FileHandle, FileHandle)
        switch connection {
        case .input(let text):
            input = try Self.unnamedFile(text)
            let pipe = Pipe()
            (reader, output) = (pipe.fileHandleForReading, pipe.fileHandleForWriting)
            keyboard = nil
        case .terminal:
            (reader, output) = try Self.terminal()
            input = output
            keyboard = reader
        }
        process = try SpawnedProcess(
            executable, arguments, environment: environment, workingDirectory: workingDirectory,
            descriptors: [input, output, output].map(\.fileDescriptor))
        // Its end is seen here only when nobody else can write.
        try output.close()
        let (chunks, chunk) = AsyncStream.makeStream(of: Data.self)
        self.chunks = chunks
        // On a thread of its own and not by a handler: the end of a terminal is an error, which `availableData` does not survive.
        Thread.detachNewThread {
            var bytes = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = read(reader.fileDescriptor, &bytes, bytes.count)
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { break }
                chunk.yield(Data(bytes[..<count]))
            }
            chunk.finish()
        }
    }

    deinit { process.send(SIGKILL) }

    /// Runs a program to its end.
    ///
    /// - Parameters:
    ///   - executable: The file.
    ///   - arguments: Its arguments.
    ///   - input: What it reads from its standard input.
    ///   - environment: Variables beside those of the test.
    /// - Returns: How it ended.
    /// - Throws: If it can't be started.
    public static func run(
        _ executable: URL, _ arguments: [String], input: String = "", environment: [String: String] = [:]
    ) async throws -> Ended {
        // Files instead of pipes: nothing to drain, so nothing can fill up.
        let files = [try unnamedFile(input), try unnamedFile(), try unnamedFile()]
        let process = try SpawnedProcess(
            executable, arguments, environment: environment, workingDirectory: nil, descriptors: files.map(\.fileDescriptor))
        let status = await process.status()
        let texts = try files.dropFirst().map { file in
            try file.seek(toOffset: 0)
            return String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
        }
        return Ended(status: status, output: texts[0], errors: texts[1])
    }

    // MARK: - While it runs

    /// Waits until the process has written a text.
    ///
    /// - Parameter needle: The text.
    /// - Returns: What it wrote since the last call, that text included.
    /// - Throws: ``NotWritten`` if it ended before, or the task was cancelled.
    @discardableResult
    public func waitFor(_ needle: String) async throws -> String {
        if let taken = take(through: needle) { return taken }
        for await data in chunks {
            written.withLock { $0.all += data }
            if let taken = take(through: needle) { return taken }
        }
        throw NotWritten(description: "“\(needle)” is not in: \(text)")
    }

    /// Waits until it has written so many lines that begin so, or has ended.
    ///
    /// - Parameters:
    ///   - count: How many.
    ///   - prefix: What they begin with.
    public func waitForLines(_ count: Int, beginning prefix: String) async {
        guard lines(beginning: prefix).count < count else { return }
        for await data in chunks {
            written.withLock { $0.all += data }
            if lines(beginning: prefix).count >= count { return }
        }
    }

    /// Types a line on its terminal.
    ///
    /// - Parameter line: Without the end of the line.
    /// - Throws: If the terminal is gone.
    public func type(_ line: String) throws { try keyboard?.write(contentsOf: Data((line + "\n").utf8)) }

    /// Presses Ctrl-C.
    public func interrupt() { process.send(SIGINT) }

    /// Ends it as a failure of power would: without a word.
    public func kill() { process.send(SIGKILL) }

    /// Waits until the process has ended.
    ///
    /// - Returns: The status, negative for a signal that ended it; and all that it wrote.
    public func end() async -> (status: Int32, text: String) {
        await withTaskCancellationHandler {
            for await data in chunks { written.withLock { $0.all += data } }
        } onCancel: {
            process.send(SIGKILL)
        }
        return (await process.status(), text)
    }

    // MARK: - What it wrote

    private var text: String { String(decoding: written.withLock { $0.all }, as: UTF8.self) }

    /// The whole lines up to now that begin so.
    func lines(beginning prefix: String) -> [String] {
        let text = text
        let end = text.lastIndex(of: "\n") ?? text.startIndex
        return text[..<end].split(separator: "\n").map(String.init).filter { $0.hasPrefix(prefix) }
    }

    private func take(through needle: String) -> String? {
        written.withLock { written in
            guard let range = written.all.range(of: Data(needle.utf8), in: written.seen..<written.all.count) else { return nil }
            defer { written.seen = range.upperBound }
            return String(decoding: written.all[written.seen..<range.upperBound], as: UTF8.self)
        }
    }

    // MARK: - Files

    /// A file that nobody else finds and that is gone with its handle, open at its beginning.
    private static func unnamedFile(_ text: String = "") throws -> FileHandle {
        var path = Array(URL.temporaryDirectory.appending(path: "countersign-XXXXXX").path.utf8CString)
        let descriptor = mkstemp(&path)
        guard descriptor >= 0 else { throw CocoaError(.fileWriteUnknown) }
        unlink(path)
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try file.write(contentsOf: Data(text.utf8))
        try file.seek(toOffset: 0)
        return file
    }

    /// Both ends of a terminal without a screen.
    private static func terminal() throws -> (ours: FileHandle, theirs: FileHandle) {
        var (ours, theirs): (Int32, Int32) = (-1, -1)
        guard openpty(&ours, &theirs, nil, nil, nil) == 0 else { throw CocoaError(.fileWriteUnknown) }
        return (FileHandle(fileDescriptor: ours, closeOnDealloc: true), FileHandle(fileDescriptor: theirs, closeOnDealloc: true))
    }
}
