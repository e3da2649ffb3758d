import Switchboard

/// What is stuck on a parcel.
struct Label: Codable, Sendable {
  var lines: [String]
}

/// Serves printers, by JSON.
enum Labels {
  static let make = CodableMethod<UInt64, Label>("parcels.Labels", "Make", .unary)
  static let service = ServiceDescriptor("parcels.Labels", [make.descriptor])

  static func handlers(_ depot: Depot, _ keyGuard: KeyGuard) -> ServiceHandlers {
    let handler = make.unaryHandler(
      interceptors: { keyGuard.makeServerInterceptors(for: make.descriptor) },
      { number, _ in
        let order = try await depot.find(number).order
        return Label(lines: [order.recipient, order.address])
      }
    )
    return ServiceHandlers(service, [handler])
  }
}
