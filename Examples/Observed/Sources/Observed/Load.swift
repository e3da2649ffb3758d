import Switchboard

/// Customers who never stop, so that there is something to see.
struct Load: Sendable {
  let client: Shop_CheckoutClient

  private static let things = ["kettle", "tea", "cup", "saucepan", "unicorn"]

  /// Makes calls until the task is cancelled.
  func run() async {
    while !Task.isCancelled {
      let basket = (0..<Int.random(in: 1...4)).map { _ in Self.things.randomElement() ?? "tea" }
      // Unicorns are not found, which is what the page should show, too.
      _ = try? await client.total(.with { $0.things = basket })
      try? await Task.sleep(for: .milliseconds(Int.random(in: 5...40)))
    }
  }
}
