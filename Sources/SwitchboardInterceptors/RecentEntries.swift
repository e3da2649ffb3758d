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
  private var places: [Key: Int] = [:]
  private var entries: [Entry?] = []
  private var free: [Int] = []
  private var newest: Int?
  private var oldest: Int?

  init(capacity: Int) {
    self.capacity = max(0, capacity)
  }

  var count: Int { places.count }

  mutating func removeAll() { self = RecentEntries(capacity: capacity) }

  /// The value of a key, unless it has expired.
  mutating func value(for key: Key, at now: Duration) -> (any Sendable)? {
    guard let place = places[key], var entry = unlink(place) else { return nil }
    guard entry.expiry > now else {
      discard(place, key)
      return nil
    }
    link(&entry, at: place)
    return entry.value
  }

  mutating func insert(_ value: any Sendable, for key: Key, until expiry: Duration) {
    guard capacity > 0 else { return }
    if let place = places[key] {
      _ = unlink(place)
      discard(place, key)
    } else if places.count >= capacity, let oldest, let entry = unlink(oldest) {
      discard(oldest, entry.key)
    }
    let place: Int
    if let reused = free.popLast() {
      place = reused
    } else {
      place = entries.count
      entries.append(nil)
    }
    places[key] = place
    var entry = Entry(key: key, value: value, expiry: expiry)
    link(&entry, at: place)
  }

  private mutating func discard(_ place: Int, _ key: Key) {
    entries[place] = nil
    places[key] = nil
    free.append(place)
  }

  /// Removes an entry from the list.
  private mutating func unlink(_ place: Int) -> Entry? {
    guard var entry = entries[place] else { return nil }
    if let newer = entry.newer { entries[newer]?.older = entry.older } else { newest = entry.older }
    if let older = entry.older { entries[older]?.newer = entry.newer } else { oldest = entry.newer }
    entry.newer = nil
    entry.older = nil
    return entry
  }

  /// Inserts an entry at the front of the list.
  private mutating func link(_ entry: inout Entry, at place: Int) {
    entry.older = newest
    if let newest { entries[newest]?.newer = place } else { oldest = place }
    newest = place
    entries[place] = entry
  }
}
