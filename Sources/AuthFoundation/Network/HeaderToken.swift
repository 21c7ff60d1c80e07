extension String {
    /// Whether the string can stand in a header as a token or a scheme: visible ASCII characters without a space.
    ///
    /// A line break in a hostile server's token could add headers to a request, or make Foundation send it without its credentials.
    package var isHeaderToken: Bool {
        !isEmpty && utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
