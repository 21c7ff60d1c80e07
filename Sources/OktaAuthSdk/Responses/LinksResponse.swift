public import Foundation

/// The links of an answer: what may be done next (authn reference, 2.4).
public struct LinksResponse: Codable, Hashable, Sendable {
    /// One link.
    public struct Link: Codable, Hashable, Sendable {
        /// What the link does, for links that do different things.
        public let name: String?
        /// Where it leads.
        public let href: URL
        /// What the server says about it; `allow` lists the HTTP methods.
        public let hints: [String: [String]]

        /// Reads a link. Hints that are missing are no error.
        ///
        /// - Parameter decoder: Where to read.
        /// - Throws: `DecodingError` if there is no URL.
        public init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: CodingKeys.self)
            name = try members.decodeIfPresent(String.self, forKey: .name)
            href = try members.decode(URL.self, forKey: .href)
            hints = try members.decodeIfPresent([String: [String]].self, forKey: .hints) ?? [:]
        }
    }

    /// A link to an image.
    public struct QRCode: Codable, Hashable, Sendable {
        /// Where the image is.
        public let href: URL
        /// Its media type.
        public let type: String?
    }

    /// The way on; its name tells which.
    public let next: Link?
    /// The way back.
    public let prev: Link?
    /// Ends the transaction.
    public let cancel: Link?
    /// Leaves the step out.
    public let skip: Link?
    /// Ways to deliver an activation link.
    public let send: [Link]?
    /// Ways to have a code or a push sent again.
    public let resend: ResendLink?
    /// Enrols the factor.
    public let enroll: Link?
    /// Picks or verifies the factor.
    public let verify: Link?
    /// The security questions to choose from.
    public let questions: Link?
    /// The code to scan.
    public let qrcode: QRCode?
}

/// The link `resend`: one, or one for each way of delivery.
public enum ResendLink: Codable, Hashable, Sendable {
    /// One for each way, by its name.
    case resendArray([LinksResponse.Link])
    /// One.
    case resend(LinksResponse.Link)

    /// Reads a link or a list of links.
    ///
    /// - Parameter decoder: Where to read.
    /// - Throws: `DecodingError` if there is neither.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let links = try? container.decode([LinksResponse.Link].self) {
            self = .resendArray(links)
        } else {
            self = .resend(try container.decode(LinksResponse.Link.self))
        }
    }

    /// Writes a link or a list of links.
    ///
    /// - Parameter encoder: Where to write.
    /// - Throws: What the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .resendArray(let links): try container.encode(links)
        case .resend(let link): try container.encode(link)
        }
    }

    /// The link that is named like the factor's way of delivery, or else the first; nil if there is none.
    func link(for type: FactorType?) -> LinksResponse.Link? {
        switch self {
        case .resend(let link): link
        case .resendArray(let links): links.first { $0.name == type?.rawValue } ?? links.first
        }
    }
}
