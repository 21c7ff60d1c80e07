internal import AuthFoundation
public import Foundation

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A program that runs as a child process of the test.
///
/// No method blocks a cooperative thread. The process is killed when its last reference is released, or when a task that waits for its end
/// is cancelled, for example by a time limit.
public final class ChildProcess: Sendable {
    /// The standard input of a process.
    public enum Connection: Sendable {
        /// The text is the standard input.
        case input(String)
        /// The standard input is a terminal, on which the test types.
        case terminal
    }

    /// The status and output of a program that ended.
    public struct Ended: Sendable {
        /// The exit status, or the negative number of the signal that ended the program.
        public let status: Int32
        /// The text of the standard output.
        public let output: String
        /// The text of the standard error.
        public let errors: String
    }

    /// An error: the process ended before it wrote the expected text.
    public struct NotWritten: Error, CustomStringConvertible {
        /// The expected text and the written text.
        public let description: String
    }

    /// The output that the test has read so far.
    private struct Written {
        var all = Data()
        /// The number of bytes that `waitFor` has returned.
        var seen = 0
    }

    private let process: SpawnedProcess
    private let chunks: AsyncStream<Data>
    private let written = Locked(Written())
    private let keyboard: FileHandle?

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - connection: The standard input. Standard output and standard error are read as one text.
    ///   - environment: Variables in addition to those of the test.
    ///   - workingDirectory: The working directory; nil for that of the test.
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
        // The reader sees the end of the output only if no other descriptor for writing is open.
        try output.close()
        let (chunks, chunk) = AsyncStream.makeStream(of: Data.self)
        self.chunks = chunks
        // This is a thread and not a handler, because the end of a terminal is an error, with which `availableData` crashes.
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

    /// Runs a program to its end and returns its status and output.
    ///
    /// - Parameters:
    ///   - input: The standard input.
    ///   - environment: Variables in addition to those of the test.
    public static func run(
        _ executable: URL, _ arguments: [String], input: String = "", environment: [String: String] = [:]
    ) async throws -> Ended {
        // The output goes to files, because a full pipe would block the program.
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
    /// - Returns: The output since the last call, up to and including the text.
    /// - Throws: ``NotWritten`` if the process ended before, or the task was cancelled.
    @discardableResult
    public func waitFor(_ needle: String) async throws -> String {
        if let taken = take(through: needle) { return taken }
        for await data in chunks {
            written.withLock { $0.all += data }
            if let taken = take(through: needle) { return taken }
        }
        throw NotWritten(description: "“\(needle)” is not in: \(text)")
    }

    /// Waits until the process has written this number of lines with this prefix, or has ended.
    public func waitForLines(_ count: Int, beginning prefix: String) async {
        guard lines(beginning: prefix).count < count else { return }
        for await data in chunks {
            written.withLock { $0.all += data }
            if lines(beginning: prefix).count >= count { return }
        }
    }

    /// Types a line on the terminal of the process.
    ///
    /// - Parameter line: The line without its line end.
    public func type(_ line: String) throws { try keyboard?.write(contentsOf: Data((line + "\n").utf8)) }

    /// Sends SIGINT, like Ctrl-C.
    public func interrupt() { process.send(SIGINT) }

    /// Sends a signal, such as `SIGHUP`.
    public func signal(_ number: Int32) { process.send(number) }

    /// Kills the process without notice, like a power failure.
    public func kill() { process.send(SIGKILL) }

    /// Waits until the process has ended.
    ///
    /// - Returns: The exit status, or the negative number of the signal that ended the process; and the whole output.
    public func end() async -> (status: Int32, text: String) {
        await withTaskCancellationHandler {
            for await data in chunks { written.withLock { $0.all += data } }
        } onCancel: {
            process.send(SIGKILL)
        }
        return (await process.status(), text)
    }

    // MARK: - Output

    private var text: String { String(decoding: written.withLock { $0.all }, as: UTF8.self) }

    /// Returns the complete lines so far with this prefix.
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

    /// Returns a file without a name, open at its beginning. The system removes the file when its handle closes.
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

    /// Returns both ends of a pseudoterminal.
    private static func terminal() throws -> (ours: FileHandle, theirs: FileHandle) {
        var (ours, theirs): (Int32, Int32) = (-1, -1)
        guard openpty(&ours, &theirs, nil, nil, nil) == 0 else { throw CocoaError(.fileWriteUnknown) }
        return (FileHandle(fileDescriptor: ours, closeOnDealloc: true), FileHandle(fileDescriptor: theirs, closeOnDealloc: true))
    }
}
