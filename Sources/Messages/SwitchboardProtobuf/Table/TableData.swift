// unsafe: memory that never changes after it was made, kept by its set or forever

import SwitchboardText
import Synchronization

/// A slot that contains a reference, and so takes part in copying and destroying an object.
struct TableReference: Sendable {
  enum Kind: UInt8 {
    case string
    /// An array of strings.
    case strings
    case message
    /// An array of messages.
    case messages
    /// An array whose elements hold no references: bytes, numbers.
    case flat
    /// Any other reference of one word: a dictionary, the extensions.
    case other
    case oneof
  }

  let kind: Kind
  let offset: Int
}

/// The message or enum that a field holds.
struct TableLink: Sendable {
  /// The table of a message.
  let message: TableData?
  /// An enum.
  let enumeration: EnumTable?
  /// Whether a field accepts any number, which is so unless the enum is closed.
  let acceptsAll: Bool

  init(message: TableData? = nil, enumeration: EnumTable? = nil) {
    self.message = message
    self.enumeration = enumeration
    acceptsAll = enumeration?.isOpen ?? true
  }
}

/// The fields of a message and the layout of its objects: a pointer to immutable memory.
///
/// An object refers to its table by this pointer. The table of a generated message lives as long as the process. That of
/// a message that was described at run time is owned by a `TableSet`, which every such object retains. It is plain
/// memory, because each use of a class would retain and release it.
public struct TableData: @unchecked Sendable {
  let address: UnsafePointer<Contents>

  /// The memory behind the pointer.
  struct Contents: ~Copyable {
    /// The fields in the order of their numbers.
    let entries: TableEntries
    /// How many fields have the numbers 1, 2, 3 and so on.
    let dense: Int
    /// The size of an object, in bytes.
    let size: Int
    let references: UnsafeBufferPointer<TableReference>
    /// The slot of the extensions of a generated message; 0 if it has none.
    let extensionsOffset: Int
    let isMessageSet: Bool
    /// Whether the message is generated and has the usual wire format.
    let isPlain: Bool
    /// Whether a field that is required is in this message or in one that it may hold.
    let needsInitialization: Bool
    /// The messages and enums of the fields, resolved when first needed. A generated message names them by their types,
    /// and types may refer to each other cyclically.
    let links: Atomic<UnsafeMutablePointer<TableLink>?>
    /// The owner; nil for the table of a generated message.
    let set: Unmanaged<TableSet>?
    let details: Unmanaged<TableDetails>
    /// Stored, because each use of a global takes a call.
    let classes: ObjectClasses
  }

  /// Makes a table that lives until ``deallocate()`` is called.
  init(_ layout: TableLayout, details: TableDetails, needsInitialization: Bool, set: TableSet?) {
    let references = UnsafeMutableBufferPointer<TableReference>.allocate(capacity: layout.references.count)
    _ = references.initialize(from: layout.references)
    let address = UnsafeMutablePointer<Contents>.allocate(capacity: 1)
    address.initialize(
      to: Contents(
        entries: TableEntries(layout.entries),
        dense: layout.entries.enumerated().prefix { Int($1.number) == $0 + 1 }.count,
        size: layout.size,
        references: UnsafeBufferPointer(references),
        extensionsOffset: layout.extensionsOffset,
        isMessageSet: details.isMessageSet,
        isPlain: set == nil && !details.isMessageSet,
        needsInitialization: needsInitialization,
        links: Atomic(nil),
        set: set.map { Unmanaged.passUnretained($0) },
        details: Unmanaged.passRetained(details),
        classes: ObjectClasses.known
      )
    )
    self.address = UnsafePointer(address)
  }

  /// Frees the table of a dynamic message type. No object may refer to it any longer.
  func deallocate() {
    if let links = address.pointee.links.load(ordering: .acquiring) {
      links.deinitialize(count: entries.count)
      links.deallocate()
    }
    entries.deallocate()
    references.deallocate()
    address.pointee.details.release()
    let address = UnsafeMutablePointer(mutating: address)
    address.deinitialize(count: 1)
    address.deallocate()
  }

  // MARK: Parts

  @inline(__always) var entries: TableEntries { address.pointee.entries }
  @inline(__always) var size: Int { address.pointee.size }
  @inline(__always) var references: UnsafeBufferPointer<TableReference> { address.pointee.references }
  @inline(__always) var extensionsOffset: Int { address.pointee.extensionsOffset }
  @inline(__always) var isExtensible: Bool { address.pointee.extensionsOffset != 0 }
  @inline(__always) var isMessageSet: Bool { address.pointee.isMessageSet }
  @inline(__always) var isPlain: Bool { address.pointee.isPlain }
  @inline(__always) var needsInitialization: Bool { address.pointee.needsInitialization }
  @inline(__always) var classes: ObjectClasses { address.pointee.classes }
  @inline(__always) var set: TableSet? { address.pointee.set?.takeUnretainedValue() }
  @inline(__always) var details: TableDetails { address.pointee.details._withUnsafeGuaranteedRef { $0 } }

  var fullName: String { details.fullName }
  /// The last part of the name, with which the paths of errors start: `Order` for `codec.Order`.
  var simpleName: String { fullName.part(afterLast: ".").map { String($0) } ?? fullName }
  var names: FieldNames { details.names }
  var form: WellKnownForm? { details.form }

  /// The index of the field with a number.
  @inline(__always)
  func index(of number: Int32) -> Int? {
    let index = Int(number) &- 1
    if index >= 0, index < address.pointee.dense { return index }
    return search(number)
  }

  @inline(never)
  private func search(_ number: Int32) -> Int? {
    let entries = entries
    var (low, high) = (address.pointee.dense, entries.count)
    while low < high {
      let middle = low + (high - low) / 2
      if entries[middle].number < number { low = middle + 1 } else { high = middle }
    }
    return low < entries.count && entries[low].number == number ? low : nil
  }

  /// The field with a number.
  @inline(__always)
  func entry(_ number: Int32) -> TableEntry? { index(of: number).map { entries[$0] } }

  /// The index of the field with a name in the `.proto` file.
  func index(ofName name: String) -> Int? { names.number(ofName: name).flatMap(index(of:)) }

  // MARK: Links

  /// The table of the message that a field holds.
  @inline(__always)
  func message(of entry: TableEntry) -> TableData { links[Int(entry.link)].message ?? self }

  /// The enum that a field holds, if it holds one.
  @inline(__always)
  func enumeration(of entry: TableEntry) -> EnumTable? {
    entry.type == .enumeration ? links[Int(entry.link)].enumeration : nil
  }

  /// Whether a field with an enum may have the value `number`.
  @inline(__always)
  func accepts(_ number: Int32, in entry: TableEntry) -> Bool {
    let link = links + Int(entry.link)
    return link.pointee.acceptsAll || link.pointee.enumeration?.accepts(number) ?? true
  }

  /// The type of the enum that a field of a generated message holds.
  func enumType(of entry: TableEntry) -> (any Enum.Type)? { enumeration(of: entry)?.type }

  @inline(__always)
  private var links: UnsafeMutablePointer<TableLink> {
    address.pointee.links.load(ordering: .acquiring) ?? link()
  }

  /// Resolves the messages and enums of the fields. Threads that do so at the same time get equal results, one of which
  /// is kept.
  @inline(never)
  private func link() -> UnsafeMutablePointer<TableLink> {
    let links = details.links()
    let made = UnsafeMutablePointer<TableLink>.allocate(capacity: max(links.count, 1))
    made.initialize(from: links, count: links.count)
    let (isStored, stored) = address.pointee.links.compareExchange(
      expected: nil,
      desired: made,
      ordering: .acquiringAndReleasing
    )
    guard !isStored, let stored else { return made }
    made.deinitialize(count: links.count)
    made.deallocate()
    return stored
  }

  /// Sets the messages and enums of the fields, one link per field, of a dynamic message type.
  func setLinks(_ links: [TableLink]) {
    let made = UnsafeMutablePointer<TableLink>.allocate(capacity: max(links.count, 1))
    made.initialize(from: links, count: links.count)
    address.pointee.links.store(made, ordering: .releasing)
  }
}

extension TableData: Hashable {
  public static func == (left: TableData, right: TableData) -> Bool { left.address == right.address }
  public func hash(into hasher: inout Hasher) { hasher.combine(address) }
}
