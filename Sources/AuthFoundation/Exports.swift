// `import AuthFoundation` also gives an app `JSON` and the encodings of `CommonSupport`.
@_exported public import CommonSupport
@_exported public import JSON
