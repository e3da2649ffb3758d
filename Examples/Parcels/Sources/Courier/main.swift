import Foundation
import Switchboard

// Courier TARGET           has a parcel delivered
// Courier TARGET NUMBER    orders as many parcels
let target = CommandLine.arguments.dropFirst().first ?? "127.0.0.1:50051"

do {
  try await visit(target)
} catch {
  FileHandle.standardError.write(Data("Courier: \(GRPCStatus(describing: error))\n".utf8))
  exit(1)
}

func visit(_ target: String) async throws {
  let channel = try Channel(target: target, options: channelOptions())
  // A call without a deadline may wait forever.
  var options = CallOptions(timeout: .seconds(5))
  if let key = ProcessInfo.processInfo.environment["COURIER_KEY"] {
    options.initialMetadata.add(name: "authorization", value: "Bearer \(key)")
  }

  let orders = Parcels_OrdersClient(channel: channel, defaultCallOptions: options)
  let parcel = try await orders.place(
    .with {
      $0.recipient = "Ada"
      $0.address = "1 Main Street"
    }
  )
  print("parcel \(parcel.number) is for \(parcel.order.recipient)")

  if let number = CommandLine.arguments.dropFirst(2).first.flatMap(Int.init) {
    try await order(number, at: orders)
  } else {
    let tracking = Parcels_TrackingClient(channel: channel, defaultCallOptions: options)
    try await deliver(parcel.number, by: tracking)
  }
  await channel.shutDown()
}

/// Orders parcels. Each server counts its own, so the greatest number tells whether one server took them all.
func order(_ count: Int, at orders: Parcels_OrdersClient) async throws {
  var greatest: UInt64 = 0
  for _ in 0..<count {
    let parcel = try await orders.place(
      .with {
        $0.recipient = "Ada"
        $0.address = "1 Main Street"
      }
    )
    greatest = max(greatest, parcel.number)
  }
  print("\(count) more parcels; the greatest number is \(greatest)")
}

func channelOptions() throws -> ChannelOptions {
  var options = ChannelOptions()
  options.serviceConfig = try ServiceConfig(json: #"{ "loadBalancingConfig": [ { "round_robin": {} } ] }"#)
  if let roots = ProcessInfo.processInfo.environment["TLS_ROOTS"] {
    options.security = .tls(ClientTLS(trustRoots: .file(roots)))
  }
  return options
}
