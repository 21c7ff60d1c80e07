extension JSONScanner {
    /// Parses a complete JSON text.
    static func parse(_ bytes: UnsafeBufferPointer<UInt8>, limits: JSONValue.Limits) -> Result<JSONValue, JOSEError> {
        guard bytes.count <= limits.maximumSize else {
            return .failure(JOSEError(.tooLarge, "The JSON text is longer than \(limits.maximumSize) bytes."))
        }
        var scanner = JSONScanner(bytes, maximumDepth: limits.maximumDepth)
        do throws(JOSEError) {
            let value = try scanner.parseValue(depth: 0)
            try scanner.requireEnd()
            return .success(value)
        } catch {
            return .failure(error)
        }
    }

    /// Parses the value at the current position. `depth` is the number of arrays and objects around it.
    mutating func parseValue(depth: Int) throws(JOSEError) -> JSONValue {
        let byte = peek()
        switch try kind(of: byte) {
        case .string: return .string(string(try scanString()))
        case .number: return try number(try scanNumber())
        case .null:
            try scanWord("null")
            return .null
        case .bool:
            try scanWord(byte == UInt8(ascii: "t") ? "true" : "false")
            return .bool(byte == UInt8(ascii: "t"))
        case .array: return .array(try parseArray(depth: depth + 1))
        case .object: return .object(try parseObject(depth: depth + 1))
        }
    }

    private mutating func parseArray(depth: Int) throws(JOSEError) -> [JSONValue] {
        guard depth <= maximumDepth else { throw Self.tooDeep }
        try require(UInt8(ascii: "["))
        var elements: [JSONValue] = []
        if skip(UInt8(ascii: "]")) { return elements }
        while true {
            elements.append(try parseValue(depth: depth))
            if skip(UInt8(ascii: "]")) { return elements }
            try require(UInt8(ascii: ","))
        }
    }

    private mutating func parseObject(depth: Int) throws(JOSEError) -> [String: JSONValue] {
        guard depth <= maximumDepth else { throw Self.tooDeep }
        try require(UInt8(ascii: "{"))
        var members: [String: JSONValue] = [:]
        if skip(UInt8(ascii: "}")) { return members }
        while true {
            guard peek() == UInt8(ascii: "\"") else { throw Self.malformed }
            let name = string(try scanName())
            try require(UInt8(ascii: ":"))
            let value = try parseValue(depth: depth)
            guard members.updateValue(value, forKey: name) == nil else { throw Self.duplicate }
            if skip(UInt8(ascii: "}")) { return members }
            try require(UInt8(ascii: ","))
        }
    }

    /// Skips the value at the current position, with the same checks as ``parseValue(depth:)``.
    mutating func skipValue(depth: Int) throws(JOSEError) {
        let byte = peek()
        switch try kind(of: byte) {
        case .string: _ = try scanString()
        case .number:
            let range = try scanNumber()
            try checkSize(of: range)
        case .null: try scanWord("null")
        case .bool: try scanWord(byte == UInt8(ascii: "t") ? "true" : "false")
        case .array: try skipArray(depth: depth + 1)
        // Parsing is the simplest way to find duplicate members. Few tokens contain nested objects.
        case .object: _ = try parseObject(depth: depth + 1)
        }
    }

    private mutating func skipArray(depth: Int) throws(JOSEError) {
        guard depth <= maximumDepth else { throw Self.tooDeep }
        try require(UInt8(ascii: "["))
        if skip(UInt8(ascii: "]")) { return }
        repeat { try skipValue(depth: depth) } while skip(UInt8(ascii: ","))
        try require(UInt8(ascii: "]"))
    }

    /// Rejects a number that exceeds the range of `Double`. Integers of up to 300 digits always fit.
    func checkSize(of range: NumberRange) throws(JOSEError) {
        if !range.isInteger || range.end - range.start > 300 { _ = try number(range) }
    }
}
