// `import BrowserSignin` also gives an app `Credential`, `Token`, `UserInfo`, `JWT` and the flows.
@_exported public import AuthFoundation
@_exported public import OAuth2Auth
