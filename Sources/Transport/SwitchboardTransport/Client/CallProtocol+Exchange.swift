import SwitchboardCall

extension CallProtocol {
  /// `nil` for gRPC.
  func makeExchange(_ request: CallRequest, mayGet: Bool) -> (any ClientDialect)? {
    switch self {
    case .grpc: nil
    case .grpcWeb: GRPCWebClient(request)
    case .connect:
      request.method.type == .unary
        ? ConnectUnaryClient(request, mayGet: mayGet) : ConnectStreamClient(request)
    }
  }
}
