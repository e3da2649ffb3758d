// unsafe: references that it holds until it lets go of them

/// Strings that were read before, so that one that repeats within a message shares their memory: comparing takes a tenth
/// of the time of making and freeing a string. It holds the last string of each of eight hashes.
struct RecentStrings {
  private typealias Address = UnsafeMutableRawPointer?
  private typealias Slots = (Address, Address, Address, Address, Address, Address, Address, Address)

  private var slots: Slots = (nil, nil, nil, nil, nil, nil, nil, nil)
  private var isEmpty = true

  /// The string of a text that is all ASCII. The classes are known.
  @inline(__always)
  mutating func string(_ text: StringMemory.Text, _ classes: ObjectClasses) -> String {
    isEmpty = false
    return withUnsafeMutableBytes(of: &slots) { slots in
      let slot = slots.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: Address.self) + text.hash
      if let object = slot.pointee {
        let memory = StringMemory(ObjectMemory(object))
        if memory.has(text) {
          memory.object.retain()
          return memory.string()
        }
        memory.release(classes)
      }
      let memory = StringMemory(text, classes)
      memory.object.retain()
      slot.pointee = memory.object.address
      return memory.string()
    }
  }

  /// Releases the strings. Call it after the last use.
  @inline(__always)
  mutating func forget() { if !isEmpty { release() } }

  @inline(never)
  private mutating func release() {
    withUnsafeBytes(of: slots) { slots in
      for object in slots.assumingMemoryBound(to: Address.self) {
        if let object { ObjectMemory(object).release() }
      }
    }
    slots = (nil, nil, nil, nil, nil, nil, nil, nil)
  }
}
