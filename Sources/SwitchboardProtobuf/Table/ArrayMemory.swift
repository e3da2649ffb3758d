/// The memory of an array, which is the same for all element types: a reference to an object with the object header,
/// the count and the capacity, followed by the elements.
///
/// It does not retain the object: its user must hold the array.
struct ArrayMemory {
  let object: UnsafeMutableRawPointer

  @inline(__always)
  var count: Int { object.load(fromByteOffset: 16, as: Int.self) }

  /// The elements of an array of bytes.
  @inline(__always)
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: object + 32, count: count) }

  /// The elements. `Element` may be any type with the same memory as theirs.
  @inline(__always)
  func elements<Element>(as type: Element.Type) -> UnsafeBufferPointer<Element> {
    UnsafeBufferPointer(start: address(as: type), count: count)
  }

  /// The address of the elements.
  @inline(__always)
  func address<Element>(as type: Element.Type) -> UnsafeMutablePointer<Element> {
    (object + 32).assumingMemoryBound(to: type)
  }

  /// Makes the array empty. The caller has destroyed its elements, and nothing else may refer to the array.
  @inline(__always)
  func forgetElements() { object.storeBytes(of: 0, toByteOffset: 16, as: Int.self) }

  /// Whether arrays have this memory in this process.
  static let isKnown: Bool = {
    guard MemoryLayout<[Int]>.size == MemoryLayout<ArrayMemory>.size else { return false }
    let sample = [7, 8, 9]
    return sample.withUnsafeBytes { elements in
      let memory = unsafeBitCast(sample, to: ArrayMemory.self)
      return elements.baseAddress == memory.bytes.baseAddress && memory.count == 3
    }
  }()
}
