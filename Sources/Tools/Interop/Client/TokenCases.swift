import InteropService
import Switchboard

/// Cases in which the server authenticates and authorizes the caller.
extension InteropClient {
  /// A token with a scope, sent with every call of the client.
  func oauth2AuthToken() async throws {
    var client = service
    client.defaultCallOptions.oauth2AccessToken = try issuer(scope: scope).makeToken()
    try await expectAccount(client, nil)
  }

  /// The same token, sent with one call.
  func perRPCCredentials() async throws {
    var options = CallOptions(initialMetadata: metadata)
    options.authTokenProvider = try issuer(scope: scope)
    try await expectAccount(service, options)
  }

  /// A token without a scope, which only identifies the caller.
  func jwtTokenCredentials() async throws {
    var client = service
    client.defaultCallOptions.authTokenProvider = try issuer(scope: nil)
    let request = try Self.request { $0.fillUsername = true }
    let response = try await client.unaryCall(request)
    try expect(response.payload.body.count, 314_159, "the size of the response's payload")
    try expect(response.username, try account, "the user name")
  }

  private func expectAccount(_ client: Grpc_Testing_TestServiceClient, _ options: CallOptions?) async throws {
    let request = Grpc_Testing_SimpleRequest.with {
      $0.fillUsername = true
      $0.fillOauthScope = true
    }
    let response = try await client.unaryCall(request, callOptions: options)
    try expect(response.username, try account, "the user name")
    guard !response.oauthScope.isEmpty, scope.contains(response.oauthScope) else {
      throw Unexpected(description: "the scope \(response.oauthScope) of the token is not in \(scope)")
    }
  }

  private var scope: String { arguments.string("oauth_scope") ?? "switchboard.interop" }

  private func issuer(scope: String?) throws -> TokenIssuer {
    guard let path = arguments.string("service_account_key_file") else {
      throw Arguments.UsageError(description: "this case needs --service_account_key_file")
    }
    return TokenIssuer(account: try ServiceAccount(path: path), scope: scope)
  }

  private var account: String {
    get throws {
      if let name = arguments.string("default_service_account") { return name }
      return try issuer(scope: nil).account.email
    }
  }
}
