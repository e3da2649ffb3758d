import Switchboard

/// One page of a list that is sorted by ID.
struct ChannelzPage<Item> {
  /// The maximum size of a page, which is also the default.
  static var largest: Int { 100 }

  let items: [Item]
  /// Whether this is the last page.
  let isLast: Bool

  /// Throws if the start or the limit is negative.
  init(of all: [Item], from start: Int64, upTo limit: Int64, by id: (Item) -> Int64) throws(GRPCStatus) {
    guard start >= 0, limit >= 0 else {
      throw GRPCStatus(
        code: .invalidArgument,
        message: "the start ID and the size of a page must not be negative"
      )
    }
    let size = limit == 0 ? Self.largest : min(Int(clamping: limit), Self.largest)
    let rest = all.drop { id($0) < start }
    items = Array(rest.prefix(size))
    isLast = items.count == rest.count
  }
}
