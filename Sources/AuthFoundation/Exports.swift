// `import AuthFoundation` also gives an app `JSON`.
@_exported public import JSON
