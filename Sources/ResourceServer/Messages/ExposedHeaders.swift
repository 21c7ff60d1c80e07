internal import HTTPTypes
internal import Hummingbird

/// Lets pages of other origins read the headers that tell why they were refused, and the nonce to use.
///
/// Browsers look for the permission in the answer itself (Fetch standard, "CORS protocol"); `CORSMiddleware` gives it to preflights only.
struct ExposedHeaders<Context: RequestContext>: RouterMiddleware {
    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        if request.headers[.origin] != nil, request.method != .options {
            response.headers[.accessControlExposeHeaders] =
                [HTTPField.Name.wwwAuthenticate, .dpopNonce].map(\.rawName).joined(separator: ", ")
        }
        return response
    }
}
