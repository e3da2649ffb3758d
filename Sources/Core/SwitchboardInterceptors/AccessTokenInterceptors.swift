public import SwitchboardCall

/// Adds an access token to the `authorization` of every call. If the server rejects the call with `UNAUTHENTICATED`,
/// retries it once with a new token, unless its requests are a stream, which cannot be sent again, or new tokens were
/// rejected too.
///
/// A call whose options have a token of its own, by `oauth2AccessToken`, `authTokenProvider` or an `authorization` in
/// `initialMetadata`, keeps that, and passes as it is. One that the call inherits is replaced.
public struct AccessTokenInterceptors: ClientInterceptorFactory {
  private let tokens: AccessTokens
  private let scheme: String

  /// Sends tokens with `scheme`. Use one `AccessTokens` for all calls that may share its tokens.
  public init(_ tokens: AccessTokens, scheme: String = "Bearer") {
    self.tokens = tokens
    self.scheme = scheme
  }

  public func makeClientInterceptors<Request: Sendable, Response: Sendable>(
    for method: MethodDescriptor
  ) -> [ClientInterceptor<Request, Response>] { [Authorizer(tokens, scheme)] }
}

/// An interceptor that adds the token of some `AccessTokens`.
protocol TokenAdding: AnyObject {
  var tokens: AccessTokens { get }
}

private final class Authorizer<Request: Sendable, Response: Sendable>: ClientCallInterceptor<
  Request, Response
>, TokenAdding
{
  let tokens: AccessTokens
  private let scheme: String

  init(_ tokens: AccessTokens, _ scheme: String) {
    self.tokens = tokens
    self.scheme = scheme
    super.init()
  }

  override func intercept(
    _ request: UnaryRequest<Request>,
    context: Context,
    next: Next
  ) async throws -> UnaryResponse<Response> {
    guard !context.options.hasToken else { return try await next(request) }
    return try await authorized(mayRepeat: true) { authorization in
      var request = request
      request.metadata.replaceOrAdd(name: "authorization", value: authorization)
      return try await next(request)
    }
  }

  override func intercept(
    _ request: StreamedRequest<Request>,
    context: Context,
    next: StreamedNext
  ) async throws -> StreamedResponse<Response> {
    guard !context.options.hasToken else { return try await next(request) }
    guard !context.type.streamsRequests else {
      return try await authorized(mayRepeat: false) { authorization in
        var request = request
        request.metadata.replaceOrAdd(name: "authorization", value: authorization)
        return try await next(request)
      }
    }
    var messages: [Request] = []
    for try await message in request.messages { messages.append(message) }
    return try await authorized(mayRepeat: true) { [messages] authorization in
      var request = StreamedRequest(metadata: request.metadata, messages: MessageStream(of: messages))
      request.metadata.replaceOrAdd(name: "authorization", value: authorization)
      return try await next(request)
    }
  }

  private func authorized<Answer>(
    mayRepeat: Bool,
    _ send: (String) async throws -> Answer
  ) async throws -> Answer {
    var mayRepeat = mayRepeat
    while true {
      let token = try await token()
      do {
        let answer = try await send("\(scheme) \(token.value)")
        tokens.accept(token)
        return answer
      } catch let status as GRPCStatus where status.code == .unauthenticated {
        guard tokens.refuse(token), mayRepeat else { throw status }
        mayRepeat = false
      }
    }
  }

  /// If obtaining a token fails, the call fails as unauthenticated, unless the error is a status.
  private func token() async throws -> AccessToken {
    do {
      let token = try await tokens.token()
      if scheme == "Bearer" { try BearerToken.check(token.value) }
      return token
    } catch let error as any GRPCStatusTransformable {
      throw error.makeGRPCStatus()
    } catch let error as CancellationError {
      throw error
    } catch {
      throw GRPCStatus(code: .unauthenticated, message: "no access token: \(error)")
    }
  }
}

extension CallOptions {
  /// Whether the call has an `authorization` of its own.
  fileprivate var hasToken: Bool {
    oauth2AccessToken != nil || authTokenProvider != nil || initialMetadata.contains(name: "authorization")
  }
}
