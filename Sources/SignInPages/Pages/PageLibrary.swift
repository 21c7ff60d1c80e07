internal import Foundation
internal import Mustache

/// A template of the pages. `layout` and `leave` are partials of the others.
enum PageTemplate: String, CaseIterable {
    case layout, leave, password, factors, push, message, consent, post, signout, activate, device, enroll, phone, renew, recover, take,
        sent, done, code, confirm, number, passkey, offer, codes, recovery

    /// The template's text, as UTF-8.
    var source: [UInt8] {
        switch self {
        case .layout: PackageResources.layout_mustache
        case .leave: PackageResources.leave_mustache
        case .password: PackageResources.password_mustache
        case .factors: PackageResources.factors_mustache
        case .push: PackageResources.push_mustache
        case .message: PackageResources.message_mustache
        case .consent: PackageResources.consent_mustache
        case .post: PackageResources.post_mustache
        case .signout: PackageResources.signout_mustache
        case .activate: PackageResources.activate_mustache
        case .device: PackageResources.device_mustache
        case .enroll: PackageResources.enroll_mustache
        case .phone: PackageResources.phone_mustache
        case .renew: PackageResources.renew_mustache
        case .recover: PackageResources.recover_mustache
        case .take: PackageResources.take_mustache
        case .sent: PackageResources.sent_mustache
        case .done: PackageResources.done_mustache
        case .code: PackageResources.code_mustache
        case .confirm: PackageResources.confirm_mustache
        case .number: PackageResources.number_mustache
        case .passkey: PackageResources.passkey_mustache
        case .offer: PackageResources.offer_mustache
        case .codes: PackageResources.codes_mustache
        case .recovery: PackageResources.recovery_mustache
        }
    }
}

/// The templates of the pages, parsed once.
struct PageLibrary: Sendable {
    private let library: MustacheLibrary

    init() {
        MustacheContentTypes.register(PageContent(), named: PageContent.name)
        var templates: [String: MustacheTemplate] = [:]
        for template in PageTemplate.allCases {
            // Sets the escaping of every template, partials included, so that no template can omit it.
            let text = "{{% CONTENT_TYPE:\(PageContent.name)}}" + String(decoding: template.source, as: UTF8.self)
            // The templates are part of the program: an invalid one fails in every test that starts a server.
            guard let parsed = try? MustacheTemplate(string: text) else { preconditionFailure("no template: \(text)") }
            templates[template.rawValue] = parsed
        }
        library = MustacheLibrary(templates: templates)
    }

    /// Returns a page in HTML, as UTF-8.
    func render(_ view: some Sendable, template: PageTemplate) -> [UInt8] {
        // `init` parses every template, so none is missing here.
        Array((library.render(view, withTemplate: template.rawValue) ?? "").utf8)
    }
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
