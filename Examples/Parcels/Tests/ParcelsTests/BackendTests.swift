import Switchboard
import Testing

@testable import Parcels

/// Calls the whole backend, without a network.
private func withBackend(_ body: (Channel) async throws -> Void) async throws {
  let backend = try Backend(courierKey: "secret")
  let channel = try Channel(inProcess: backend.providers, options: backend.options)
  try await body(channel)
  await channel.shutDown()
}

private func callOptions(key: String?) -> CallOptions {
  var options = CallOptions(timeout: .seconds(60))
  if let key { options.initialMetadata.add(name: "authorization", value: "Bearer \(key)") }
  return options
}

private func tracking(_ channel: Channel, key: String?) -> Parcels_TrackingClient {
  Parcels_TrackingClient(channel: channel, defaultCallOptions: callOptions(key: key))
}

private let order = Parcels_Order.with {
  $0.recipient = "Ada"
  $0.address = "1 Main Street"
}

@Test func aParcelIsFollowedUntilItIsDelivered() async throws {
  try await withBackend { channel in
    let parcel = try await Parcels_OrdersClient(channel: channel).place(order)
    let scans = ["depot", "door"].map { place in
      Parcels_Scan.with {
        $0.number = parcel.number
        $0.place = place
        $0.delivered = place == "door"
      }
    }
    let courier = tracking(channel, key: "secret")
    #expect(try await courier.handIn(scans).scans == 2)
    var places: [String] = []
    for try await sighting in courier.follow(.with { $0.number = parcel.number }) {
      places.append(sighting.place)
    }
    #expect(places == ["depot", "door"])
  }
}

@Test func scansAreSorted() async throws {
  try await withBackend { channel in
    let parcel = try await Parcels_OrdersClient(channel: channel).place(order)
    let scan = Parcels_Scan.with { $0.number = parcel.number }
    for try await goal in tracking(channel, key: "secret").sort([scan]) {
      #expect(goal.address == "1 Main Street")
    }
  }
}

@Test func anOrderWithoutAnAddressIsRefused() async throws {
  try await withBackend { channel in
    let error = await #expect(throws: GRPCStatus.self) {
      try await Parcels_OrdersClient(channel: channel).place(.with { $0.recipient = "Ada" })
    }
    #expect(error?.code == .invalidArgument)
  }
}

@Test func aLabelHasTheNameAndTheAddress() async throws {
  try await withBackend { channel in
    let parcel = try await Parcels_OrdersClient(channel: channel).place(order)
    let printer = MethodClient(channel: channel, defaultCallOptions: callOptions(key: "secret"))
    let label = try await printer.call(Labels.make).unary(parcel.number)
    #expect(label.lines == ["Ada", "1 Main Street"])
  }
}

@Test(arguments: [nil, "secreT", "secretsecret"])
func strangersHandInNothing(key: String?) async throws {
  try await withBackend { channel in
    let error = await #expect(throws: GRPCStatus.self) { try await tracking(channel, key: key).handIn([]) }
    #expect(error?.code == .unauthenticated)
  }
}
