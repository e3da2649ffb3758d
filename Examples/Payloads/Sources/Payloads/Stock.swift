import Switchboard

/// A service without a `.proto`: its methods are constants, and its messages are `Codable`.
enum Stock {
  static let find = CodableMethod<String, Order>("stock.Stock", "Find", .unary)
  static let service = ServiceDescriptor("stock.Stock", [find.descriptor])

  static var handlers: ServiceHandlers {
    var handlers = ServiceHandlers(service)
    handlers.unary(find) { article, _ in Order(article: article, count: article.count) }
    return handlers
  }
}
