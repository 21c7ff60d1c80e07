import SwiftIfConfig
import SwiftSyntax

/// Walks through a file and collects the edits of a ``SourceView``.
final class Blanking: SyntaxAnyVisitor {
    private let view: SourceView
    private let configuration: AppleConfiguration
    var edits = Edits()
    var problems: [String] = []
    private var previews = 0

    init(_ view: SourceView, configuration: AppleConfiguration) {
        (self.view, self.configuration) = (view, configuration)
        super.init(viewMode: .sourceAccurate)
    }

    // MARK: - Conditions

    override func visit(_ node: IfConfigDeclSyntax) -> SyntaxVisitorContinueKind {
        let (active, diagnostics) = node.activeClause(in: configuration)
        if let diagnostic = diagnostics.first {
            problems.append(diagnostic.message)
            return .skipChildren
        }
        guard let elements = active?.elements else {
            edits.replace(node.bytes)
            return .skipChildren
        }
        let kept = elements.position.utf8Offset..<elements.endPosition.utf8Offset
        edits.replace(node.bytes.lowerBound..<kept.lowerBound)
        edits.replace(kept.upperBound..<node.bytes.upperBound)
        walk(elements)
        return .skipChildren
    }

    // MARK: - Availability

    /// Blanks a declaration that the system lacks.
    override func visitAny(_ node: Syntax) -> SyntaxVisitorContinueKind {
        guard node.is(DeclSyntax.self), let declaration = node.asProtocol((any WithAttributesSyntax).self) else { return .visitChildren }
        let availability = Availability(declaration.attributes, on: view.system.platform, namesAll: view.isStub)
        guard availability.isPresent(on: view.system) else {
            edits.replace(node.bytes)
            return .skipChildren
        }
        return .visitChildren
    }

    override func visit(_ node: IfExprSyntax) -> SyntaxVisitorContinueKind {
        guard isMissing(node.conditions) else { return .visitChildren }
        // The branch is not type-checked, because the system lacks what it uses.
        edits.replace(node.conditions.bytes, by: "false")
        edits.replace(node.body.leftBrace.bytes.upperBound..<node.body.rightBrace.bytes.lowerBound)
        if let otherwise = node.elseBody { walk(otherwise) }
        return .skipChildren
    }

    override func visit(_ node: GuardStmtSyntax) -> SyntaxVisitorContinueKind {
        guard isMissing(node.conditions) else { return .visitChildren }
        // Only the exit runs. The statements after it are not type-checked.
        edits.replace(node.bytes.lowerBound..<node.body.bytes.lowerBound, by: "do ")
        walk(node.body)
        if let item = node.parent?.as(CodeBlockItemSyntax.self), let list = item.parent?.as(CodeBlockItemListSyntax.self) {
            edits.replace(item.bytes.upperBound..<list.endPosition.utf8Offset)
            skipped = item.bytes.upperBound..<list.endPosition.utf8Offset
        }
        return .skipChildren
    }

    /// The statements after an exit that always runs.
    private var skipped = 0..<0

    override func visit(_ node: CodeBlockItemSyntax) -> SyntaxVisitorContinueKind {
        skipped.contains(node.bytes.lowerBound) ? .skipChildren : .visitChildren
    }

    /// Whether a condition of the list fails because of the system's version.
    private func isMissing(_ conditions: ConditionElementListSyntax) -> Bool {
        conditions.contains {
            if case .availability(let condition) = $0.condition { !condition.holds(on: view.system) } else { false }
        }
    }

    // MARK: - What Linux lacks

    override func visit(_ node: ImportDeclSyntax) -> SyntaxVisitorContinueKind {
        guard let name = node.path.first?.name.text else { return .skipChildren }
        // A stub can export a module that only some platforms have.
        if view.isStub, view.frameworks[name]?.contains(view.system.platform) == false { edits.replace(node.bytes) }
        // On Apple's systems, Crypto exports CryptoKit.
        let parts = ["Foundation": ["FoundationNetworking", "CoreFoundationStubs"], "Crypto": ["CryptoKit"]]
        guard !view.isStub, let added = parts[name] else { return .skipChildren }
        let prefix = (node.attributes.map(\.trimmedDescription) + node.modifiers.map(\.trimmedDescription)).joined(separator: " ")
        let imports = added.map { "; \(prefix) import \($0)" }
        edits.replace(node.bytes.upperBound..<node.bytes.upperBound, by: imports.joined())
        return .skipChildren
    }

    override func visit(_ node: AttributeSyntax) -> SyntaxVisitorContinueKind {
        let name = node.attributeName.trimmedDescription
        if ["objc", "objcMembers", "IBAction", "IBOutlet", "NSManaged", "nonobjc"].contains(name) { edits.replace(node.bytes) }
        return .skipChildren
    }

    override func visit(_ node: MacroExpansionExprSyntax) -> SyntaxVisitorContinueKind {
        replacePreview(node.macroName, pound: node.pound, closure: node.trailingClosure, of: Syntax(node))
    }

    override func visit(_ node: MacroExpansionDeclSyntax) -> SyntaxVisitorContinueKind {
        replacePreview(node.macroName, pound: node.pound, closure: node.trailingClosure, of: Syntax(node))
    }

    private func replacePreview(
        _ name: TokenSyntax, pound: TokenSyntax, closure: ClosureExprSyntax?, of node: Syntax
    ) -> SyntaxVisitorContinueKind {
        guard name.text == "Preview", closure != nil else { return .visitChildren }
        previews += 1
        let name = pound.bytes.lowerBound..<name.bytes.upperBound
        edits.replace(name, by: "@MainActor private func preview\(previews)() { previewed")
        edits.replace(node.bytes.upperBound..<node.bytes.upperBound, by: " }")
        return .visitChildren
    }
}
