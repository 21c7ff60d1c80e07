@_exported public import AuthFoundation
