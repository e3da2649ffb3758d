import SwitchboardCall

extension CallProtocol {
  /// `nil` for gRPC.
  func makeExchange(_ request: CallRequest, mayGet: Bool) -> (any ClientExchange)? {
    switch self {
    case .grpc: nil
    case .grpcWeb: GRPCWebClientExchange(request)
    case .connect:
      request.method.type == .unary
        ? ConnectUnaryClient(request, mayGet: mayGet) : ConnectStreamClient(request)
    }
  }
}
