/// A cache of limited size whose entries expire: when it is full, it evicts the least recently used.
///
/// It is a linked list in an array, so every operation takes constant time.
struct RecentEntries<Key: Hashable & Sendable>: Sendable {
  private struct Entry: Sendable {
    var key: Key
    var value: any Sendable
    var expiry: Duration
    var newer: Int?
    var older: Int?
  }

  private let capacity: Int
  private var indices: [Key: Int] = [:]
  private var entries: [Entry?] = []
  private var free: [Int] = []
  private var newest: Int?
  private var oldest: Int?

  init(capacity: Int) { self.capacity = capacity }

  var count: Int { indices.count }

  /// The keys, in no order.
  var keys: some Collection<Key> { indices.keys }

  mutating func removeAll() { self = RecentEntries(capacity: capacity) }

  /// The value of a key, unless it has expired.
  mutating func value(for key: Key, at now: Duration) -> (any Sendable)? {
    guard let index = indices[key], var entry = unlink(index) else { return nil }
    guard entry.expiry > now else {
      discard(index, key)
      return nil
    }
    link(&entry, at: index)
    return entry.value
  }

  mutating func insert(_ value: any Sendable, for key: Key, until expiry: Duration) {
    guard capacity > 0 else { return }
    if let index = indices[key] {
      _ = unlink(index)
      discard(index, key)
    } else if indices.count >= capacity, let oldest, let entry = unlink(oldest) {
      discard(oldest, entry.key)
    }
    let index: Int
    if let reused = free.popLast() {
      index = reused
    } else {
      index = entries.count
      entries.append(nil)
    }
    indices[key] = index
    var entry = Entry(key: key, value: value, expiry: expiry)
    link(&entry, at: index)
  }

  private mutating func discard(_ index: Int, _ key: Key) {
    entries[index] = nil
    indices[key] = nil
    free.append(index)
  }

  /// Removes an entry from the list.
  private mutating func unlink(_ index: Int) -> Entry? {
    guard var entry = entries[index] else { return nil }
    if let newer = entry.newer { entries[newer]?.older = entry.older } else { newest = entry.older }
    if let older = entry.older { entries[older]?.newer = entry.newer } else { oldest = entry.newer }
    entry.newer = nil
    entry.older = nil
    return entry
  }

  /// Inserts an entry at the front of the list.
  private mutating func link(_ entry: inout Entry, at index: Int) {
    entry.older = newest
    if let newest { entries[newest]?.newer = index } else { oldest = index }
    newest = index
    entries[index] = entry
  }
}
