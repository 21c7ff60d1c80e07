// The same module by the other name under which apps import it.
@_exported public import OktaAuthSdk
