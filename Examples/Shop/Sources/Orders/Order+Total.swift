import Catalog

extension Orders_Order {
  /// What the customer pays; `nil` where the prices are in different currencies.
  public var total: Catalog_Price? {
    let goods = lines.map { line in
      var price = line.article.price
      price.cents *= Int64(line.count)
      return price
    }
    let amounts = goods + fees.values
    guard let currency = amounts.first?.currency, amounts.allSatisfy({ $0.currency == currency }) else {
      return nil
    }
    return .with {
      $0.currency = currency
      $0.cents = amounts.map(\.cents).reduce(0, +)
    }
  }
}
