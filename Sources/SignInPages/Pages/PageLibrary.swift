internal import Foundation
internal import Mustache

/// The templates of the pages, parsed once.
struct PageLibrary: Sendable {
    private let library: MustacheLibrary

    init() {
        MustacheContentTypes.register(PageContent(), named: PageContent.name)
        let sources: [String: [UInt8]] = [
            "layout": PackageResources.layout_mustache, "leave": PackageResources.leave_mustache,
            "password": PackageResources.password_mustache, "factors": PackageResources.factors_mustache,
            "push": PackageResources.push_mustache, "message": PackageResources.message_mustache,
            "consent": PackageResources.consent_mustache, "post": PackageResources.post_mustache,
            "signout": PackageResources.signout_mustache, "activate": PackageResources.activate_mustache,
            "device": PackageResources.device_mustache,
            "enroll": PackageResources.enroll_mustache,
            "phone": PackageResources.phone_mustache, "renew": PackageResources.renew_mustache,
            "recover": PackageResources.recover_mustache, "take": PackageResources.take_mustache,
            "sent": PackageResources.sent_mustache, "done": PackageResources.done_mustache,
            "code": PackageResources.code_mustache, "confirm": PackageResources.confirm_mustache,
            "number": PackageResources.number_mustache,
        ]
        library = MustacheLibrary(
            templates: sources.mapValues { source in
                // Sets the escaping of every template, partials included, so that no template can omit it.
                let text = "{{% CONTENT_TYPE:\(PageContent.name)}}" + String(decoding: source, as: UTF8.self)
                // The templates are part of the program: an invalid one fails in every test that starts a server.
                guard let template = try? MustacheTemplate(string: text) else { preconditionFailure("no template: \(text)") }
                return template
            })
    }

    /// Returns a page in HTML, as UTF-8.
    func render(_ view: some Sendable, template: String) -> [UInt8] { Array((library.render(view, withTemplate: template) ?? "").utf8) }
}

/// The escaping of values in the pages. It works on Unicode scalars, because the library's own escapes characters: a quote with a combining
/// mark is another character, but still a quote to a browser.
package struct PageContent: MustacheContentType {
    /// The name that templates use.
    package static let name = "PAGE"

    package init() {}

    /// Escapes every character that is markup in an element or in a quoted attribute.
    package func escapeText(_ text: String) -> String {
        var escaped = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "<": escaped.append(contentsOf: "&lt;".unicodeScalars)
            case ">": escaped.append(contentsOf: "&gt;".unicodeScalars)
            case "&": escaped.append(contentsOf: "&amp;".unicodeScalars)
            case "\"": escaped.append(contentsOf: "&quot;".unicodeScalars)
            case "'": escaped.append(contentsOf: "&#39;".unicodeScalars)
            default: escaped.append(scalar)
            }
        }
        return String(escaped)
    }
}
