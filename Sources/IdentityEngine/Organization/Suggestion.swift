/// Finds what somebody probably meant to write.
public enum Suggestion: Sendable {
    /// The candidate that differs least from a word.
    ///
    /// - Parameters:
    ///   - word: What was written.
    ///   - candidates: What could have been meant.
    /// - Returns: The nearest candidate; nil if none is within a third of the word's length, or one edit of a short one.
    public static func nearest(to word: String, among candidates: some Collection<String>) -> String? {
        let allowed = max(1, word.count / 3)
        return candidates.map { ($0, distance(Array(word.lowercased()), Array($0.lowercased()))) }
            .filter { $0.1 <= allowed }
            .min { ($0.1, $0.0) < ($1.1, $1.0) }?.0
    }

    /// How many characters must be inserted, removed or replaced (Levenshtein).
    private static func distance(_ a: [Character], _ b: [Character]) -> Int {
        var row = Array(0...b.count)
        for (i, left) in a.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, right) in b.enumerated() {
                (diagonal, row[j + 1]) = (row[j + 1], min(row[j] + 1, row[j + 1] + 1, diagonal + (left == right ? 0 : 1)))
            }
        }
        return row[b.count]
    }
}
