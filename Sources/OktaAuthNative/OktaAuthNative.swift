// Re-exports OktaAuthSdk under the module name that some apps import.
@_exported public import OktaAuthSdk
