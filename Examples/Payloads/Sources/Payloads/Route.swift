import Switchboard

/// A table in the manner of FlatBuffers: the value is its bytes, and a field is read where it lies.
struct Route: Sendable {
  fileprivate let table: [UInt8]

  init(stops: [UInt16]) {
    table = stops.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
  }

  fileprivate init(table: [UInt8]) {
    self.table = table
  }

  var stopCount: Int { table.count / 2 }

  subscript(stop index: Int) -> UInt16 { UInt16(table[2 * index]) | UInt16(table[2 * index + 1]) << 8 }
}

/// Nothing is parsed and nothing is built: the bytes are the value.
struct RouteMarshaller: Marshaller {
  var contentSubtype: ContentSubtype { "route" }

  func encode(_ route: Route) throws -> MessageBuffer {
    try MessageBuffer(byteCount: route.table.count) { $0.append(contentsOf: route.table) }
  }

  func decode(_ bytes: RawSpan) throws -> Route {
    guard bytes.byteCount.isMultiple(of: 2) else {
      throw GRPCStatus(code: .internalError, message: "a route has two bytes for each stop")
    }
    return Route(table: BytesMarshaller().decode(bytes))
  }
}
