public import Foundation

/// A page of the server as a ``SandboxBrowser`` has it before it. A `Sendable` value.
public struct HostedPage: Sendable {
    /// What the person does next.
    public enum Step: Sendable {
        /// Sends a form.
        ///
        /// - form: One of the page.
        /// - values: What is filled in, by the names of the fields. The others are sent as they are.
        /// - button: The button that is pressed; nil for the first one.
        case submit(_ form: Form, values: [String: String] = [:], button: Form.Button? = nil)
        /// Loads the page again, after that many seconds on the browser's clock.
        case reload(after: TimeInterval = 0)
        /// Closes the browser: the sign-in ends with `BrowserSigninError.userCancelledLogin`.
        case close
    }

    /// A form.
    public struct Form: Sendable, Equatable {
        /// A button that sends the form.
        public struct Button: Sendable, Equatable {
            /// The name that is sent; nil if nothing is.
            public var name: String?
            /// The value that is sent.
            public var value: String
            /// What is written on it.
            public var label: String
        }

        /// A field.
        public struct Field: Sendable, Equatable {
            /// The name that is sent.
            public var name: String
            /// The kind, such as `text`, `password`, `hidden`, `checkbox`.
            public var type: String
            /// The value that it has.
            public var value: String
        }

        /// Where it is sent.
        public var action: URL
        /// Whether it is sent with POST.
        public var isPost: Bool
        /// The fields, in order.
        public var fields: [Field] = []
        /// The buttons, in order.
        public var buttons: [Button] = []

        /// The field of a kind, if there is one.
        ///
        /// - Parameter type: The kind.
        /// - Returns: The first such field.
        public func field(ofType type: String) -> Field? { fields.first { $0.type == type } }
    }

    /// Where it is.
    public let url: URL
    /// The status of the answer.
    public let status: Int
    /// The title.
    public let title: String
    /// What a person reads on it, with single spaces.
    public let text: String
    /// The forms, in order.
    public let forms: [Form]
    /// After how many seconds it is loaded again by itself; nil if it is not.
    public let refresh: TimeInterval?
    /// What the page says about the step before, such as that the password was wrong; nil if nothing.
    public let notice: String?
    /// The number that the person is to pick on their phone; nil if it shows none.
    public let number: String?

    init(html: String, url: URL, status: Int) {
        let markup = PageMarkup(html)
        self.url = url
        self.status = status
        title = markup.text { tag, _ in tag == "title" } ?? ""
        text = markup.visibleText
        notice = markup.text { _, attributes in attributes["role"] == "alert" }
        number = markup.text { _, attributes in attributes["class"]?.split(separator: " ").contains("number") == true }
        forms = Self.forms(in: markup, at: url)
        refresh =
            markup.parts.compactMap { part -> TimeInterval? in
                guard case .start("meta", let attributes) = part, attributes["http-equiv"]?.lowercased() == "refresh" else { return nil }
                return attributes["content"].flatMap { TimeInterval($0.prefix { $0 != ";" }) }
            }.first
    }

    private static func forms(in markup: PageMarkup, at url: URL) -> [Form] {
        var forms: [Form] = []
        var open: Form?
        var isButton = false
        for part in markup.parts {
            switch part {
            case .start("form", let attributes):
                let action = attributes["action"].flatMap { URL(string: $0, relativeTo: url)?.absoluteURL } ?? url
                open = Form(action: action, isPost: attributes["method"]?.lowercased() == "post")
            case .start("input", let attributes):
                let type = attributes["type"]?.lowercased() ?? "text"
                if type == "submit" {
                    open?.buttons.append(
                        .init(name: attributes["name"], value: attributes["value"] ?? "", label: attributes["value"] ?? ""))
                } else if let name = attributes["name"] {
                    let isOff = (type == "checkbox" || type == "radio") && attributes["checked"] == nil
                    if !isOff { open?.fields.append(.init(name: name, type: type, value: attributes["value"] ?? "")) }
                }
            case .start("button", let attributes):
                guard attributes["type"] != "button" else { continue }
                open?.buttons.append(.init(name: attributes["name"], value: attributes["value"] ?? "", label: ""))
                isButton = true
            case .text(let words):
                guard isButton, let last = open?.buttons.indices.last else { continue }
                open?.buttons[last].label += words
            case .end("button"): isButton = false
            case .end("form"):
                if let form = open { forms.append(form) }
                open = nil
            default: break
            }
        }
        return forms
    }
}
