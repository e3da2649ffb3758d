import Switchboard
import SwitchboardTelemetry

/// Adds up prices, in a span of its own. The calls that it makes are children of that.
struct Checkout: Shop_CheckoutProvider {
  var interceptors: Interceptors? { nil }

  let prices: Shop_PricesClient
  let telemetry: Telemetry
  let orders: Counter

  func total(request: Shop_TotalRequest, context: ServerCallContext) async throws -> Shop_TotalReply {
    orders.add(1, ["shop.size": request.things.count > 2 ? "large" : "small"])
    context.logger.log(.info, "adding up", ["things": "\(request.things.count)"])
    return try await telemetry.tracer.withSpan("add up") { span in
      span.set("shop.things", .int(request.things.count))
      var cents: Int64 = 0
      for thing in request.things {
        cents += try await prices.find(.with { $0.thing = thing }).cents
      }
      return .with { $0.cents = cents }
    }
  }
}

struct Prices: Shop_PricesProvider {
  var interceptors: Interceptors? { nil }

  func find(request: Shop_FindRequest, context: ServerCallContext) async throws -> Shop_FindReply {
    guard request.thing != "unicorn" else {
      throw GRPCStatus(code: .notFound, message: "there are no unicorns")
    }
    return .with { $0.cents = Int64(request.thing.count * 100) }
  }
}
