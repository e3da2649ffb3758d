// unsafe: what follows a call is confined to the call's loop

import SwitchboardCall

/// Finds an object for each method of a connection or a channel by the method's descriptor, without comparing names or
/// counting references. Used on one loop only.
struct MethodCache<Value: AnyObject>: ~Copyable {
  /// The cache has retained both; the method, so that no other descriptor gets the same address.
  private struct Entry {
    let method: Unmanaged<MethodDescriptor>
    let value: Unmanaged<Value>

    func release() {
      method.release()
      value.release()
    }
  }

  /// A hash table in which each method has one possible slot. It is small at first, because most connections call few
  /// methods, and grows when two methods need the same slot.
  private var entries: [Entry?] = []
  private static var mostEntries: Int { 64 }

  init() {}

  deinit {
    for case let entry? in entries { entry.release() }
  }

  private func index(of method: Unmanaged<MethodDescriptor>) -> Int {
    let address = UInt(bitPattern: method.toOpaque())
    return Int(truncatingIfNeeded: (address >> 4 ^ address >> 10) & UInt(entries.count - 1))
  }

  /// The method's object, which the cache retains until it is asked for another method.
  @inline(__always)
  mutating func value(of method: MethodDescriptor, _ make: () -> Value) -> Unmanaged<Value> {
    let method = Unmanaged.passUnretained(method)
    if !entries.isEmpty, let entry = entries[index(of: method)], entry.method.toOpaque() == method.toOpaque()
    {
      return entry.value
    }
    return keep(make(), method)
  }

  @inline(never)
  private mutating func keep(_ value: Value, _ method: Unmanaged<MethodDescriptor>) -> Unmanaged<Value> {
    let entry = Entry(method: method.retain(), value: .passRetained(value))
    if entries.isEmpty { entries = [Entry?](repeating: nil, count: 4) }
    while entries[index(of: method)] != nil, entries.count < Self.mostEntries {
      let known = entries
      entries = [Entry?](repeating: nil, count: known.count * 2)
      for case let known? in known { entries[index(of: known.method)] = known }
    }
    let place = index(of: method)
    let replaced = entries[place]
    entries[place] = entry
    replaced?.release()
    return entry.value
  }
}
