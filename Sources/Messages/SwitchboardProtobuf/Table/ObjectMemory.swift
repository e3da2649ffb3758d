// unsafe: makes and frees objects as the standard library does, which is checked in each process

import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

#if canImport(Glibc) || canImport(Musl)
  // What the runtime allocates the memory of objects with.
  @inline(__always) private func allocate(_ size: Int) -> UnsafeMutableRawPointer {
    malloc(size) ?? .allocate(byteCount: size, alignment: 16)  // which fails where there is no memory
  }
  @inline(__always) private func deallocate(_ address: UnsafeMutableRawPointer) { free(address) }
  private let isSupported = true
#else
  // There, an object may have more to free than its memory, or comes from elsewhere.
  private func allocate(_ size: Int) -> UnsafeMutableRawPointer { .allocate(byteCount: size, alignment: 16) }
  private func deallocate(_ address: UnsafeMutableRawPointer) { address.deallocate() }
  private let isSupported = false
#endif

/// The memory of an object: the class, the count of its references, and what it stores.
///
/// Decoding makes and frees many small objects of few classes. To make one, the standard library takes three to seven
/// calls, to free it seven and an atomic exchange. Here both are what these do in the end: to allocate memory and write
/// its first two words, and to free the memory of an object that nothing else refers to. What is assumed of objects is
/// checked in each process (``ObjectClasses/known``).
struct ObjectMemory {
  let address: UnsafeMutableRawPointer

  /// The bytes before what an object stores.
  static let header = 16

  /// Makes an object with one reference, which the caller owns. What it stores is not initialized.
  @inline(__always)
  init(_ type: ObjectClasses.Class, size: Int, _ classes: ObjectClasses) {
    address = allocate(size)
    address.storeBytes(of: type.word, as: UInt.self)
    address.storeBytes(of: classes.sole, toByteOffset: 8, as: UInt.self)
  }

  @inline(__always)
  init(_ address: UnsafeMutableRawPointer) { self.address = address }

  /// Whether the caller's reference is the only one, of any strength. False where that is not known.
  @inline(__always)
  func isSole(_ classes: ObjectClasses) -> Bool {
    counts == classes.sole
  }

  /// What counts the references. What other threads did before they released theirs has happened when it is read.
  @inline(__always)
  fileprivate var counts: UInt {
    (address + 8).assumingMemoryBound(to: Atomic<UInt>.self).pointee.load(ordering: .acquiring)
  }

  fileprivate var reference: AnyObject { Unmanaged<AnyObject>.fromOpaque(address).takeUnretainedValue() }

  @inline(__always)
  func isOf(_ type: ObjectClasses.Class) -> Bool { address.load(as: UInt.self) == type.word }

  /// Frees an object that is sole, whose contents the caller has destroyed.
  @inline(__always)
  func free() { deallocate(address) }

  @inline(__always)
  func retain() { _ = Unmanaged<AnyObject>.fromOpaque(address).retain() }

  @inline(__always)
  func release() { Unmanaged<AnyObject>.fromOpaque(address).release() }

  /// Releases an array whose elements hold no references.
  @inline(__always)
  func releaseFlat(_ classes: ObjectClasses) {
    if isSole(classes) { free() } else { release() }
  }
}

/// The classes of the objects that decoding makes itself, and what an object looks like that has one reference: a pointer
/// to what never changes after it was made.
@usableFromInline
struct ObjectClasses: @unchecked Sendable {
  private let address: UnsafePointer<Contents>

  /// A class, by the first word of its objects; zero if it is not known.
  struct Class: Equatable {
    fileprivate let word: UInt
    fileprivate static let none = Class(word: 0)

    @inline(__always)
    var isKnown: Bool { word != 0 }

    fileprivate init(word: UInt) { self.word = word }
    /// The class of an object.
    init(of object: UnsafeRawPointer) { word = object.load(as: UInt.self) }
  }

  /// What is behind the pointer.
  private struct Contents {
    /// The second word of an object with one reference, and of no object if that is not known.
    var sole = UInt.max
    var message = Class.none
    var string = Class.none
    var strings = Class.none
    var messages = Class.none
    var bytes = Class.none
  }

  @inline(__always) fileprivate var sole: UInt { address.pointee.sole }
  @inline(__always) var message: Class { address.pointee.message }
  /// Strings of their own memory (``StringMemory``).
  @inline(__always) var string: Class { address.pointee.string }
  /// Arrays (``ArrayMemory``).
  @inline(__always) var strings: Class { address.pointee.strings }
  @inline(__always) var messages: Class { address.pointee.messages }
  @inline(__always) var bytes: Class { address.pointee.bytes }

  /// The classes of this process.
  static let known = ObjectClasses()

  private init() {
    var contents = Contents()
    if isSupported, let sole = ObjectClasses.soleWord(), SmallString.isKnown, ArrayMemory.isKnown,
      let string = StringMemory.sampleClass()
    {
      contents.sole = sole
      contents.string = string
      contents.message = Class(word: ObjectClasses.word(of: MessageObject.self))
      contents.strings = ArrayMemory.sampleClass(of: String.self)
      contents.messages = ArrayMemory.sampleClass(of: MessageStorage.self)
      contents.bytes = ArrayMemory.sampleClass(of: UInt8.self)
    }
    let made = UnsafeMutablePointer<Contents>.allocate(capacity: 1)
    made.initialize(to: contents)
    address = UnsafePointer(made)
  }

  private final class Sample {
    var value = 7
  }

  /// The second word of objects with one reference, if that is the same for all, and no other has it.
  private static func soleWord() -> UInt? {
    let samples = [sample(), sample()]
    defer { for sample in samples { sample.release() } }
    let words = samples.map(\.counts)
    for sample in samples {
      // The first word is the type, and what is stored follows the second.
      guard sample.address.load(as: UInt.self) == word(of: Sample.self),
        sample.address.load(fromByteOffset: ObjectMemory.header, as: Int.self) == 7,
        sample.counts == words[0], counts(of: sample, heldBy: [sample.reference]) != words[0],
        sample.counts == words[0]
      else { return nil }
    }
    return words[0]
  }

  // Functions of their own, so that the optimizer neither moves the object to the stack nor omits a reference.

  @inline(never)
  private static func sample() -> ObjectMemory { ObjectMemory(Unmanaged.passRetained(Sample()).toOpaque()) }

  @inline(never)
  private static func counts(of sample: ObjectMemory, heldBy holders: [AnyObject]) -> UInt {
    withExtendedLifetime(holders) { sample.counts }
  }

  private static func word(of type: AnyClass) -> UInt { unsafeBitCast(type, to: UInt.self) }
}
