import Switchboard

struct Item: Codable, Sendable {
  var name: String
  var count: Int
}

enum Stock {
  static let find = CodableMethod<String, Item>("stock.Stock", "Find", .unary)

  static var handlers: ServiceHandlers {
    var handlers = ServiceHandlers(ServiceDescriptor("stock.Stock", [find.descriptor]))
    handlers.unary(find) { name, _ in Item(name: name, count: 8) }
    return handlers
  }
}
