import Switchboard

/// Lets couriers pass, who have the key.
struct KeyGuard: ServerGuard {
  private let expected: [UInt8]

  init(key: String) { expected = Array("Bearer \(key)".utf8) }

  func check(_ headers: HPACKHeaders, of call: ServerCallContext) throws {
    // Anyone may follow a parcel.
    guard call.method.path != Parcels_TrackingMetadata.Methods.follow.descriptor.path else { return }
    let given = Array((headers.first(name: "authorization") ?? "").utf8)
    // Compared to the end, so that the time does not say where they differ.
    var difference = given.count ^ expected.count
    for (left, right) in zip(given, expected) { difference |= Int(left ^ right) }
    guard difference == 0 else {
      throw GRPCStatus(code: .unauthenticated, message: "the courier's key is missing or wrong")
    }
  }
}
