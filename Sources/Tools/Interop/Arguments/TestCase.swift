/// The cases of gRPC's interoperability test descriptions that the client supports.
enum TestCase: String, CaseIterable {
  case emptyUnary = "empty_unary"
  case largeUnary = "large_unary"
  case cacheableUnary = "cacheable_unary"
  case clientCompressedUnary = "client_compressed_unary"
  case serverCompressedUnary = "server_compressed_unary"
  case clientStreaming = "client_streaming"
  case clientCompressedStreaming = "client_compressed_streaming"
  case serverStreaming = "server_streaming"
  case serverCompressedStreaming = "server_compressed_streaming"
  case pingPong = "ping_pong"
  case emptyStream = "empty_stream"
  case customMetadata = "custom_metadata"
  case statusCodeAndMessage = "status_code_and_message"
  case specialStatusMessage = "special_status_message"
  case unimplementedMethod = "unimplemented_method"
  case unimplementedService = "unimplemented_service"
  case cancelAfterBegin = "cancel_after_begin"
  case cancelAfterFirstResponse = "cancel_after_first_response"
  case timeoutOnSleepingServer = "timeout_on_sleeping_server"
  case concurrentLargeUnary = "concurrent_large_unary"
  case rpcSoak = "rpc_soak"
  case channelSoak = "channel_soak"
  case longLivedChannel = "long_lived_channel"
  case pickFirstUnary = "pick_first_unary"
  case oauth2AuthToken = "oauth2_auth_token"
  case perRPCCredentials = "per_rpc_creds"
  case jwtTokenCredentials = "jwt_token_creds"
  // Against a server that violates HTTP/2.
  case goaway
  case rstAfterHeader = "rst_after_header"
  case rstDuringData = "rst_during_data"
  case rstAfterData = "rst_after_data"
  case ping
  case maxStreams = "max_streams"

  /// Whether the case needs a server that violates HTTP/2 on purpose.
  var isNegative: Bool {
    switch self {
    case .goaway, .rstAfterHeader, .rstDuringData, .rstAfterData, .ping, .maxStreams: true
    default: false
    }
  }
}
