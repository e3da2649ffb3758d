import Switchboard

/// A part of a list that is in the order of ids.
struct ChannelzPage<Item> {
  /// The most that one page has, and how many it has where nothing is said.
  static var largest: Int { 100 }

  let items: [Item]
  /// Nothing follows.
  let isLast: Bool

  /// Throws where the request is for less than nothing.
  init(of all: [Item], from start: Int64, upTo limit: Int64, by id: (Item) -> Int64) throws(GRPCStatus) {
    guard start >= 0, limit >= 0 else {
      throw GRPCStatus(
        code: .invalidArgument,
        message: "a page begins at an id and has a size, none below zero"
      )
    }
    let size = limit == 0 ? Self.largest : min(Int(clamping: limit), Self.largest)
    let rest = all.drop { id($0) < start }
    items = Array(rest.prefix(size))
    isLast = items.count == rest.count
  }
}
