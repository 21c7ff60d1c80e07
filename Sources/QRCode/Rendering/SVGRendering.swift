extension QRSymbol {
    /// The symbol as an SVG element, to stand in a page or, with its `xmlns`, in a file.
    ///
    /// Black on white whatever the page's colours are, since readers need it so; drawn by attributes only, so that a content security
    /// policy without inline styles has nothing against it. It has no size of its own: the page's style gives it one.
    ///
    /// - Parameters:
    ///   - title: What a screen reader says, in the reader's language.
    ///   - quietZone: Light modules around it, at least 0; readers count on the 4 of the standard.
    /// - Returns: One `svg` element.
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
