/// The `jti` of a token: `AT.` or `ID.`, the grant's id and twelve random characters, and, of an access token that was issued
/// with a refresh token, a dot and the refresh family's id (oauth reference 3.2).
struct TokenID: Sendable, Equatable {
    enum Kind: String, Sendable { case access = "AT.", id = "ID." }

    let kind: Kind
    let grantID: String
    /// The claim.
    let text: String

    /// Makes the id of a new token.
    init(_ kind: Kind, of grant: Grant, random: any RandomSource) throws {
        self.kind = kind
        grantID = grant.id
        let own = try random.identifier(prefix: "").prefix(12)
        text = kind.rawValue + grant.id + own + (kind == .access ? grant.refresh.map { "." + $0.id } ?? "" : "")
    }

    /// Reads a claim; nil if it is not one of ours.
    init?(_ text: String) {
        guard let kind = Kind(rawValue: String(text.prefix(3))), text.utf8.count >= 3 + Grant.idLength else { return nil }
        self.kind = kind
        grantID = String(text.dropFirst(3).prefix(Grant.idLength))
        self.text = text
    }
}
