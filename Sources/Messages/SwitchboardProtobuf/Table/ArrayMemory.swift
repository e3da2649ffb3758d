// unsafe: an array's elements in place, whose layout is checked in each process

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

  // MARK: Making arrays

  /// The class of the objects of arrays with elements of one type.
  static func sampleClass<Element>(of type: Element.Type) -> ObjectClasses.Class {
    var sample: [Element] = []
    sample.reserveCapacity(1)
    return withExtendedLifetime(sample) {
      ObjectClasses.Class(of: unsafeBitCast(sample, to: ArrayMemory.self).object)
    }
  }

  /// Makes an array without elements, which the caller owns.
  @inline(__always)
  init<Element>(
    _ type: ObjectClasses.Class,
    of element: Element.Type,
    capacity: Int,
    _ classes: ObjectClasses
  ) {
    let size = 32 &+ capacity &* MemoryLayout<Element>.stride
    object = ObjectMemory(type, size: size, classes).address
    setCount(0)
    object.storeBytes(of: capacity &* 2, toByteOffset: 24, as: Int.self)
  }

  init(object: UnsafeMutableRawPointer) { self.object = object }

  /// Sets the count of the elements, all of which the caller has initialized.
  @inline(__always)
  func setCount(_ count: Int) { object.storeBytes(of: count, toByteOffset: 16, as: Int.self) }

  /// The array, which takes over the caller's reference.
  @inline(__always)
  func array<Element>(of type: Element.Type) -> [Element] {
    var object = object
    return withUnsafeMutablePointer(to: &object) {
      UnsafeMutableRawPointer($0).assumingMemoryBound(to: [Element].self).move()
    }
  }

  /// Whether arrays have this memory in this process.
  static let isKnown: Bool = {
    guard MemoryLayout<[Int]>.size == MemoryLayout<ArrayMemory>.size else { return false }
    let sample = Array(repeating: 7, count: 3)
    return sample.withUnsafeBytes { elements in
      let memory = unsafeBitCast(sample, to: ArrayMemory.self)
      return elements.baseAddress == memory.bytes.baseAddress && memory.count == 3
        && memory.object.load(fromByteOffset: 24, as: Int.self) == 2 * sample.capacity
    }
  }()
}
