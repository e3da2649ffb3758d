import Switchboard

/// Serves customers.
struct OrderDesk: Parcels_OrdersProvider {
  let depot: Depot

  var interceptors: Interceptors? { nil }

  func place(request: Parcels_Order, context: ServerCallContext) async throws -> Parcels_Parcel {
    try request.check()
    return await depot.take(request)
  }

  func find(request: Parcels_ParcelNumber, context: ServerCallContext) async throws -> Parcels_Parcel {
    try await depot.find(request.number)
  }
}
