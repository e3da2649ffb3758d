import Switchboard

/// Serves `orders.proto`, whose messages are types of this package.
struct OrderDesk: Orders_OrdersProvider {
  var interceptors: Interceptors? { nil }

  func place(request: Order, context: ServerCallContext) async throws -> Orders_Receipt {
    guard request.count > 0 else {
      throw GRPCStatus(code: .invalidArgument, message: "no \(request.article) were ordered")
    }
    return .with { $0.cents = Int64(request.count) * 1299 }
  }

  func track(
    requestStream: RequestStream<Order>,
    responseStream: ResponseStreamWriter<Route>,
    context: ServerCallContext
  ) async throws {
    for try await order in requestStream {
      try await responseStream.send(Route(stops: (0..<order.count).map { UInt16($0 * 100) }))
    }
  }
}
