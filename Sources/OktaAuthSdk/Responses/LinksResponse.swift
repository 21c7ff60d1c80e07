public import Foundation

/// The links of a response, which are the possible next steps (Documentation/Protocol/Authn.md §2.4). A link is `nil` if its step is not
/// available.
public struct LinksResponse: Codable, Hashable, Sendable {
    /// A link.
    public struct Link: Codable, Hashable, Sendable {
        /// The purpose of the link; `nil` if the relation alone identifies the purpose.
        public let name: String?
        /// The URL of the link.
        public let href: URL
        /// The server's hints for the link, by name; empty without hints. `allow` lists the HTTP methods.
        public let hints: [String: [String]]

        /// Decodes a link. Hints are optional.
        /// - Throws: `DecodingError` if the URL is missing.
        public init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: CodingKeys.self)
            name = try members.decodeIfPresent(String.self, forKey: .name)
            href = try members.decode(URL.self, forKey: .href)
            hints = try members.decodeIfPresent([String: [String]].self, forKey: .hints) ?? [:]
        }
    }

    /// A link to an image.
    public struct QRCode: Codable, Hashable, Sendable {
        /// The URL of the image.
        public let href: URL
        /// The media type of the image.
        public let type: String?
    }

    /// The link to the next step. The link's name identifies the step.
    public let next: Link?
    /// The link to the previous step.
    public let prev: Link?
    /// The link that cancels the transaction.
    public let cancel: Link?
    /// The link that skips the step.
    public let skip: Link?
    /// The links that send the user an activation link.
    public let send: [Link]?
    /// The links that resend a code or a push.
    public let resend: ResendLink?
    /// The link that enrolls the factor.
    public let enroll: Link?
    /// The link that selects or verifies the factor.
    public let verify: Link?
    /// The link to the available security questions.
    public let questions: Link?
    /// The link to the QR code.
    public let qrcode: QRCode?
}

/// The `resend` link: a single link, or a link for each channel.
public enum ResendLink: Codable, Hashable, Sendable {
    /// One link for each channel, identified by its name.
    case resendArray([LinksResponse.Link])
    /// A single link.
    case resend(LinksResponse.Link)

    /// Decodes a link or an array of links.
    /// - Throws: `DecodingError` for any other value.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let links = try? container.decode([LinksResponse.Link].self) {
            self = .resendArray(links)
        } else {
            self = .resend(try container.decode(LinksResponse.Link.self))
        }
    }

    /// Encodes a link or an array of links.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .resendArray(let links): try container.encode(links)
        case .resend(let link): try container.encode(link)
        }
    }

    /// Returns the link whose name is the factor type, or else the first link.
    func link(for type: FactorType?) -> LinksResponse.Link? {
        switch self {
        case .resend(let link): link
        case .resendArray(let links): links.first { $0.name == type?.rawValue } ?? links.first
        }
    }
}
