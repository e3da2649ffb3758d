import Foundation
import Switchboard

// Courier HOST:PORT   has a parcel delivered
let target = CommandLine.arguments.dropFirst().first ?? "127.0.0.1:50051"

do {
  try await visit(target)
} catch {
  FileHandle.standardError.write(Data("Courier: \(GRPCStatus(describing: error))\n".utf8))
  exit(1)
}

func visit(_ target: String) async throws {
  let channel = try Channel(target: target)
  // A call without a deadline may wait for ever.
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

  try await deliver(parcel.number, by: Parcels_TrackingClient(channel: channel, defaultCallOptions: options))
  await channel.shutDown()
}
