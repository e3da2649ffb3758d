import Switchboard

/// A service without a `.proto` file: plain `Codable` values, one method of each kind, and one method with a custom
/// message format.
enum Stock {
  struct Query: Codable, Sendable, Equatable {
    var name: String
  }

  struct Item: Codable, Sendable, Equatable {
    var name: String
    var count: Int
  }

  static let name = "shop.Stock"
  static let find = CodableMethod<Query, Item>(name, "Find", .unary)
  static let list = CodableMethod<Query, Item>(name, "List", .serverStreaming)
  static let count = CodableMethod<Item, Item>(name, "Count", .clientStreaming)
  static let move = CodableMethod<Item, Item>(name, "Move", .bidirectionalStreaming)
  static let label = Method(
    MethodDescriptor(service: name, method: "Label", type: .unary),
    requests: PointMarshaller(),
    responses: PointMarshaller()
  )

  static let service = ServiceDescriptor(
    name,
    [find.descriptor, list.descriptor, count.descriptor, move.descriptor, label.descriptor]
  )

  static let handlers = ServiceHandlers(
    service,
    [
      find.unaryHandler { query, _ in
        guard query.name != "nothing" else { throw GRPCStatus(code: .notFound, message: query.name) }
        return Item(name: query.name, count: 3)
      },
      list.serverStreamingHandler { query, responses, _ in
        for count in 1...3 { try await responses.send(Item(name: query.name, count: count)) }
      },
      count.clientStreamingHandler { requests, _ in
        var total = Item(name: "", count: 0)
        for try await item in requests {
          total.name += item.name
          total.count += item.count
        }
        return total
      },
      move.bidirectionalStreamingHandler { requests, responses, _ in
        for try await item in requests { try await responses.send(Item(name: item.name, count: -item.count)) }
      },
      label.unaryHandler { point, _ in Point(x: point.y, y: point.x) },
    ]
  )
}

/// A value with a custom layout, as FlatBuffers' tables have: written in place, read without parsing.
struct Point: Sendable, Equatable {
  var x: Int32
  var y: Int32
}

struct PointMarshaller: Marshaller {
  struct Truncated: Error {}

  var contentSubtype: ContentSubtype { "point" }

  func encode(_ point: Point) throws -> MessageBuffer {
    try MessageBuffer(byteCount: 8) { output in
      for number in [point.x, point.y] {
        withUnsafeBytes(of: number.littleEndian) { output.append(contentsOf: $0) }
      }
    }
  }

  func decode(_ bytes: RawSpan) throws -> Point {
    guard bytes.byteCount == 8 else { throw Truncated() }
    return bytes.withUnsafeBytes { bytes in
      Point(
        x: Int32(littleEndian: bytes.loadUnaligned(as: Int32.self)),
        y: Int32(littleEndian: bytes.loadUnaligned(fromByteOffset: 4, as: Int32.self))
      )
    }
  }
}
