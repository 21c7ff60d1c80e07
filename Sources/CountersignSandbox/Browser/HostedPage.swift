public import Foundation

/// A page of the server in a ``SandboxBrowser``.
public struct HostedPage: Sendable {
    /// The user's next step.
    public enum Step: Sendable {
        /// Submits a form.
        /// - form: A form of the page.
        /// - values: The values to fill in, by field name. The other fields keep their values.
        /// - button: The button to press; `nil` for the first button.
        case submit(_ form: Form, values: [String: String] = [:], button: Form.Button? = nil)
        /// Reloads the page after a number of seconds on the browser's clock.
        case reload(after: TimeInterval = 0)
        /// Closes the browser: the sign-in ends with `BrowserSigninError.userCancelledLogin`.
        case close
    }

    /// A form.
    public struct Form: Sendable, Equatable {
        /// A button that submits the form.
        public struct Button: Sendable, Equatable {
            /// The name to send; `nil` for none.
            public var name: String?
            /// The value to send.
            public var value: String
            /// The visible label.
            public var label: String
        }

        /// A field.
        public struct Field: Sendable, Equatable {
            /// The name to send.
            public var name: String
            /// The type, such as `text`, `password`, `hidden` or `checkbox`.
            public var type: String
            /// The initial value.
            public var value: String
        }

        /// The target URL.
        public var action: URL
        /// Whether the form is sent with POST.
        public var isPost: Bool
        /// The fields, in order, without unchecked boxes and radio buttons.
        public var fields: [Field] = []
        /// The buttons, in order.
        public var buttons: [Button] = []

        /// Returns the first field of a type; `nil` if the form has none.
        public func field(ofType type: String) -> Field? { fields.first { $0.type == type } }
    }

    /// The URL of the page.
    public let url: URL
    /// The HTTP status of the response.
    public let status: Int
    /// The title; empty if the page has none.
    public let title: String
    /// The visible text, with single spaces.
    public let text: String
    /// The forms, in order.
    public let forms: [Form]
    /// The interval after which the page reloads itself, in seconds; `nil` if the page does not reload itself.
    public let refresh: TimeInterval?
    /// The message about the previous step, such as a wrong password; `nil` for none.
    public let notice: String?
    /// The number for the user to pick on the phone; `nil` if the page shows none.
    public let number: String?

    package init(html: String, url: URL, status: Int) {
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
