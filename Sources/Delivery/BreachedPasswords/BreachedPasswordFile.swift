internal import Foundation
internal import NIOPosix

/// A sorted file with one hexadecimal SHA-1 digest of a breached password per line, optionally followed by `:COUNT`. Have I Been Pwned
/// offers its list in this format, ordered by hash. A line can contain only the first 10 to 40 digits of the digest, the same number in
/// every line. Then all passwords with these digits count as breached. The file is searched on disk, so it can be larger than memory.
/// Replacing the file requires a restart. Safe from any task.
package final class BreachedPasswordFile: Sendable {
    /// The accepted numbers of digits in a line. With fewer digits, unrelated passwords would match by chance.
    private static let digits = 10...40
    /// The number of digits of an NTLM hash (MD4), which this server cannot compute.
    private static let ntlmDigits = 32
    /// The number of bytes per read, which exceeds the length of two lines.
    private static let window = 256

    private let descriptor: Int32
    private let size: Int
    private let digits: Int

    /// Opens a file. Throws if the file cannot be read, or if its first and last lines are not from a sorted list of SHA-1 digests.
    package init(path: String) throws(BreachedPasswordError) {
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw BreachedPasswordError("The list of breached passwords \(path) can't be read: \(String(cString: strerror(errno))).")
        }
        var status = stat()
        let isRegular = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        size = isRegular ? Int(status.st_size) : 0
        let first = isRegular ? Self.line(in: Self.read(descriptor, at: 0)) : nil
        digits = first?.count ?? 0
        guard isRegular, let first else {
            throw BreachedPasswordError("The list of breached passwords \(path) is no file of hexadecimal digests.")
        }
        guard first.count != Self.ntlmDigits else {
            throw BreachedPasswordError(
                "The list of breached passwords \(path) holds NTLM hashes. Use the list of SHA-1 digests, ordered by hash.")
        }
        guard Self.digits.contains(first.count) else {
            throw BreachedPasswordError(
                "The lines of \(path) have \(first.count) digits. A list has the first 10 to 40 digits of SHA-1 digests.")
        }
        guard let last = Self.lastLine(descriptor, size: size), last.count == first.count, !last.lexicographicallyPrecedes(first) else {
            throw BreachedPasswordError(
                "The list of breached passwords \(path) is not sorted, or its last line is incomplete. Sort it: LC_ALL=C sort -o \(path) \(path)"
            )
        }
    }

    deinit { close(descriptor) }

    /// Searches for a digest of 40 upper-case hexadecimal digits, on the thread pool for blocking work. Throws ``BreachedPasswordError`` if
    /// the file is damaged, and `CancellationError`.
    func contains(_ digest: [UInt8]) async throws -> Bool {
        let key = Array(digest.prefix(digits))
        return try await NIOThreadPool.singleton.runIfActive { [self] in try search(key) }
    }

    /// Searches by bisecting the file offsets. Each step reads the first line that begins at or after an offset.
    private func search(_ key: [UInt8]) throws(BreachedPasswordError) -> Bool {
        var (low, high) = (0, size)
        while low < high {
            let middle = low + (high - low) / 2
            let offset = max(middle - 1, 0)
            let bytes = Self.read(descriptor, at: offset)
            var start = offset
            if middle > 0 {
                guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else {
                    if offset + bytes.count < size { throw damaged }
                    high = middle
                    continue
                }
                start = offset + end + 1
            }
            guard start < high else {
                high = middle
                continue
            }
            guard let line = Self.line(in: bytes.dropFirst(start - offset)), line.count == digits else { throw damaged }
            if line == key { return true }
            if key.lexicographicallyPrecedes(line) { high = middle } else { low = start + 1 }
        }
        return false
    }

    private var damaged: BreachedPasswordError {
        BreachedPasswordError("The list of breached passwords is damaged: not every line has \(digits) hexadecimal digits.")
    }

    private static func read(_ descriptor: Int32, at offset: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: window) { buffer, count in
            count = max(pread(descriptor, buffer.baseAddress, window, off_t(offset)), 0)
        }
    }

    /// Returns the leading digits of a line in upper case; `nil` if the line has no digits, too many digits, or other text than a count
    /// after them.
    private static func line(in bytes: some Collection<UInt8>) -> [UInt8]? {
        let digits = bytes.prefix { isDigit($0) }
        guard !digits.isEmpty, digits.count <= Self.digits.upperBound else { return nil }
        switch bytes.dropFirst(digits.count).first {
        case nil, UInt8(ascii: ":"), UInt8(ascii: "\r"), UInt8(ascii: "\n"): break
        default: return nil
        }
        return digits.map { $0 >= UInt8(ascii: "a") ? $0 - 32 : $0 }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "F"), UInt8(ascii: "a")...UInt8(ascii: "f"): true
        default: false
        }
    }

    private static func lastLine(_ descriptor: Int32, size: Int) -> [UInt8]? {
        let end = read(descriptor, at: max(size - window, 0))
        return end.split(separator: UInt8(ascii: "\n")).last { !$0.allSatisfy { $0 == UInt8(ascii: "\r") } }.flatMap { line(in: $0) }
    }
}
