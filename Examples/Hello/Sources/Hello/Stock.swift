import Switchboard

struct Item: Codable, Sendable {
  var name: String
  var count: Int
}

enum Stock {
  static let find = CodableMethod<String, Item>("stock.Stock", "Find", .unary)

  static let handlers = ServiceHandlers(
    ServiceDescriptor("stock.Stock", [find.descriptor]),
    [find.unaryHandler { name, _ in Item(name: name, count: 8) }]
  )
}
