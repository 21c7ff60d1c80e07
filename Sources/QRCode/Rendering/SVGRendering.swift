extension QRSymbol {
    /// Returns the symbol as one `svg` element, usable in an HTML page or as a file. The symbol is always black on white, because readers
    /// need that contrast. The element uses attributes only, so it works under a content security policy that forbids inline styles. The
    /// element has no intrinsic size; set the size in the page's style sheet.
    /// - Parameters:
    ///   - title: The text for screen readers, in the user's language.
    ///   - quietZone: The width of the light border in modules, at least 0. Readers expect the standard's 4.
    public func svg(title: String, quietZone: Int = 4) -> String {
        let zone = max(quietZone, 0)
        let side = size + 2 * zone
        var path = ""
        for row in 0..<size {
            var column = 0
            while column < size {
                guard self[column, row] else {
                    column += 1
                    continue
                }
                let start = column
                while self[column, row] { column += 1 }
                path += "M\(start + zone) \(row + zone)h\(column - start)v1H\(start + zone)z"
            }
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 \(side) \(side)" shape-rendering="crispEdges">\
            <title>\(Self.escaped(title))</title><path fill="#fff" d="M0 0h\(side)v\(side)H0z"/><path fill="#000" d="\(path)"/></svg>
            """
    }

    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
