import Switchboard

/// Serves those who follow parcels, and couriers.
struct Tracker: Parcels_TrackingProvider {
  let depot: Depot
  let keyGuard: KeyGuard
  let journal = Journal()

  var interceptors: Interceptors? { Parcels_TrackingServerInterceptors(keyGuard) }

  func follow(
    request: Parcels_ParcelNumber,
    responseStream: ResponseStreamWriter<Parcels_Sighting>,
    context: ServerCallContext
  ) async throws {
    _ = try await depot.find(request.number)
    let scans = await journal.follow(request.number)
    // A parcel may take days, and the server does not wait for it when it shuts down.
    try await context.untilShutdown {
      for await scan in scans {
        // Returns when there is room for another response: a slow reader slows this down.
        try await responseStream.send(.with { $0.place = scan.place })
      }
    }
  }

  func handIn(
    requestStream: RequestStream<Parcels_Scan>,
    context: ServerCallContext
  ) async throws -> Parcels_Receipt {
    var receipt = Parcels_Receipt()
    for try await scan in requestStream {
      _ = try await depot.find(scan.number)
      await journal.record(scan)
      receipt.scans += 1
    }
    return receipt
  }

  func sort(
    requestStream: RequestStream<Parcels_Scan>,
    responseStream: ResponseStreamWriter<Parcels_Order>,
    context: ServerCallContext
  ) async throws {
    for try await scan in requestStream {
      let parcel = try await depot.find(scan.number)
      await journal.record(scan)
      try await responseStream.send(parcel.order)
    }
  }
}
