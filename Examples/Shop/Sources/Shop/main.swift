import Catalog
import Orders

let article = Catalog_Article.with {
  $0.number = 7
  $0.title = "Kettle"
  $0.price = .with {
    $0.currency = "EUR"
    $0.cents = 2_450
  }
}
let order = Orders_Order.with {
  $0.lines = [
    .with {
      $0.article = article
      $0.count = 2
    }
  ]
  $0.fees["shipping"] = .with {
    $0.currency = "EUR"
    $0.cents = 395
  }
}

let received = try Orders_Order(serializedBytes: order.serializedBytes())
let titles = received.lines.map(\.article.title).joined(separator: ", ")
print("\(titles) for \(received.total?.text ?? "an amount in several currencies")")
