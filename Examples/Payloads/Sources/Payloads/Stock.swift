import Switchboard

/// A service without a `.proto`: its methods are constants, and its messages are `Codable`.
enum Stock {
  static let find = CodableMethod<String, Order>("stock.Stock", "Find", .unary)
  static let service = ServiceDescriptor("stock.Stock", [find.descriptor])

  static let handlers = ServiceHandlers(
    service,
    [find.unaryHandler { article, _ in Order(article: article, count: article.count) }]
  )
}
