/// The penalty score of a masked symbol (ISO/IEC 18004 section 7.8.3). The mask with the lowest score is used.
extension ModuleGrid {
    var penalty: Int {
        var points = 0
        for line in 0..<size {
            points += Self.penalty(ofLine: (0..<size).map { self[$0, line] })
            points += Self.penalty(ofLine: (0..<size).map { self[line, $0] })
        }
        return points + blockPenalty + balancePenalty
    }

    /// Returns the points for long runs of one color and for patterns that resemble a finder pattern.
    static func penalty(ofLine line: [Bool]) -> Int {
        var points = 0
        var run = 0
        for (index, module) in line.enumerated() {
            run = index > 0 && module == line[index - 1] ? run + 1 : 1
            if run == 5 { points += 3 } else if run > 5 { points += 1 }
        }
        // The quiet zone counts as light modules: four light modules on one side complete a pattern that resembles a finder pattern.
        var window = 0
        for (index, module) in ([false, false, false, false] + line + [false, false, false, false]).enumerated() {
            window = (window << 1 | (module ? 1 : 0)) & 0b111_1111_1111
            if index >= 10, window == 0b101_1101_0000 || window == 0b000_0101_1101 { points += 40 }
        }
        return points
    }

    /// The points for squares: three points for each two-by-two square of one color.
    private var blockPenalty: Int {
        var points = 0
        for row in 1..<size {
            for column in 1..<size {
                let module = self[column, row]
                if module == self[column - 1, row], module == self[column, row - 1], module == self[column - 1, row - 1] { points += 3 }
            }
        }
        return points
    }

    /// The points for the balance: ten points for each full 5 percent by which the share of dark modules differs from one half.
    private var balancePenalty: Int {
        var dark = 0
        for row in 0..<size { for column in 0..<size where self[column, row] { dark += 1 } }
        return abs(dark * 20 - size * size * 10) / (size * size) * 10
    }
}
