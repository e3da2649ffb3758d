// unsafe: nghttp2: one owner a session, callbacks within one call into it

import CNghttp2
import SwitchboardCall

/// A list of header fields in nghttp2's form, which is reused for every submission.
///
/// Constant names and values are passed by reference. The rest is copied into the writer's own memory, from which
/// nghttp2 copies it.
package final class HeaderWriter {
  // Unchecked exclusivity: confined to the session's loop, and no access lasts while other code is called.
  @exclusivity(unchecked) private var entries: [nghttp2_nv] = []
  /// Allocated when it is first needed: most responses have constant fields only.
  @exclusivity(unchecked) private var memory: UnsafeMutablePointer<UInt8>?
  @exclusivity(unchecked) private var capacity = 0
  @exclusivity(unchecked) private var used = 0
  /// The size of the fields, as HTTP/2 counts it.
  @exclusivity(unchecked) private(set) var listSize = 0
  /// Whether the session can add `traceparent` when the headers are sent.
  @exclusivity(unchecked) var mayAnnounce = false
  /// Whether `traceparent` was announced.
  @exclusivity(unchecked) private(set) var awaitsTraceParent = false

  deinit { memory?.deallocate() }

  private static let leastCapacity = 512

  private static let nameIsConstant = UInt8(NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue)
  private static let valueIsConstant = UInt8(NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue)

  func reset() {
    entries.removeAll(keepingCapacity: true)
    used = 0
    listSize = 0
    awaitsTraceParent = false
  }

  /// Forgets the fields, and frees their memory.
  func freeMemory() {
    reset()
    entries = []
    memory?.deallocate()
    (memory, capacity) = (nil, 0)
  }

  /// A position to which the writer can be rewound.
  struct Mark {
    fileprivate let entryCount: Int
    fileprivate let used: Int
    fileprivate let listSize: Int
    fileprivate let awaitsTraceParent: Bool
  }

  var mark: Mark {
    Mark(
      entryCount: entries.count,
      used: used,
      listSize: listSize,
      awaitsTraceParent: awaitsTraceParent
    )
  }

  /// Removes the fields that were added after the mark.
  func rewind(to mark: Mark) {
    entries.removeSubrange(mark.entryCount...)
    used = mark.used
    listSize = mark.listSize
    awaitsTraceParent = mark.awaitsTraceParent
  }

  /// The largest field: its name, and the length of its value.
  var largestField: (name: String, valueByteCount: Int)? {
    entries.max { $0.namelen + $0.valuelen < $1.namelen + $1.valuelen }
      .map { entry in
        let name = UnsafeBufferPointer(start: entry.name, count: min(entry.namelen, 100))
        return (String(decoding: name, as: UTF8.self), entry.valuelen)
      }
  }

  private func append(_ entry: nghttp2_nv) {
    listSize += entry.namelen + entry.valuelen + 32
    entries.append(entry)
  }

  func withEntries<Result>(_ body: (UnsafePointer<nghttp2_nv>?, Int) -> Result) -> Result {
    entries.withUnsafeBufferPointer { body($0.baseAddress, $0.count) }
  }

  func forEachField(_ body: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) -> Void) {
    for entry in entries {
      body(
        UnsafeBufferPointer(start: entry.name, count: entry.namelen),
        UnsafeBufferPointer(start: entry.value, count: entry.valuelen)
      )
    }
  }

  func add(_ constant: ConstantHeaders) {
    listSize += constant.listSize
    entries.append(contentsOf: UnsafeBufferPointer(start: constant.entries, count: constant.count))
  }

  package func add(_ name: StaticString, _ value: StaticString) {
    append(
      nghttp2_nv(
        name: UnsafeMutablePointer(mutating: name.utf8Start),
        value: UnsafeMutablePointer(mutating: value.utf8Start),
        namelen: name.utf8CodeUnitCount,
        valuelen: value.utf8CodeUnitCount,
        flags: Self.nameIsConstant | Self.valueIsConstant
      )
    )
  }

  package func add(_ name: StaticString, _ value: some Collection<UInt8>) {
    let target = copy(value)
    append(
      nghttp2_nv(
        name: UnsafeMutablePointer(mutating: name.utf8Start),
        value: target,
        namelen: name.utf8CodeUnitCount,
        valuelen: value.count,
        flags: Self.nameIsConstant
      )
    )
  }

  /// Adds a field whose value is a number in decimal digits.
  func add(_ name: StaticString, number: Int) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
      var start = digits.count
      var rest = number.magnitude
      repeat {
        start -= 1
        digits[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
        rest /= 10
      } while rest > 0
      add(name, UnsafeBufferPointer(rebasing: digits[start...]))
    }
  }

  /// Adds a field whose value no other request has, and which is not worth a place in the table of either side.
  func add(unindexed name: StaticString, _ value: RawSpan) {
    let target = value.withUnsafeBytes { copy($0) }
    append(
      nghttp2_nv(
        name: UnsafeMutablePointer(mutating: name.utf8Start),
        value: target,
        namelen: name.utf8CodeUnitCount,
        valuelen: value.byteCount,
        flags: Self.nameIsConstant | UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue)
      )
    )
  }

  /// Announces `traceparent`, which the session adds when the headers are sent. Returns `false` if it has to be added now,
  /// because the session cannot, or because the block might take more than one frame.
  func announceTraceParent() -> Bool {
    guard mayAnnounce, listSize <= Self.largestBlock else { return false }
    listSize += SpanIdentity.listSize
    awaitsTraceParent = true
    return true
  }

  /// Every peer accepts frames of 16 KB, and no field takes more than its size as HTTP/2 counts it.
  private static let largestBlock = 15 * 1024

  /// Adds the content type of a call.
  func add(_ subtype: ContentSubtype) {
    if subtype.isUnnamed {
      add("content-type", "application/grpc")
    } else {
      add("content-type", subtype.contentType.utf8)
    }
  }

  /// Adds a user's metadata, except names that belong to HTTP/2 or gRPC itself. If there were fields that HTTP does not
  /// allow, `failureToSend` has already failed the call. Returns whether all were added.
  @discardableResult
  package func add(_ metadata: HPACKHeaders, inTrailers: Bool = false) -> Bool {
    metadata.forEachUserField(inTrailers: inTrailers) { add(name: $0, value: $1) }
  }

  /// Adds the headers of a plain HTTP response, except those that belong to the connection.
  func add(plain headers: HPACKHeaders) {
    headers.forEachField { name, value in
      if ReservedHeaders.allowPlain(name), FieldSyntax.isName(name), FieldSyntax.isStrictValue(value) {
        add(name: name, value: value)
      }
    }
  }

  /// Adds trailers whose names get a prefix, such as `trailer-`.
  package func add(_ trailers: HPACKHeaders, prefix: StaticString) {
    let start = UnsafeBufferPointer(start: prefix.utf8Start, count: prefix.utf8CodeUnitCount)
    trailers.forEachUserField(inTrailers: true) { name, value in
      (Array(start) + name).withUnsafeBufferPointer { add(name: $0, value: value) }
    }
  }

  private func add(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
    // Reserves room for both first, because growing moves what was copied before.
    _ = reserve(name.count + value.count)
    let nameTarget = copy(name)
    append(
      nghttp2_nv(
        name: nameTarget,
        value: copy(value),
        namelen: name.count,
        valuelen: value.count,
        flags: 0
      )
    )
  }

  private func copy(_ bytes: some Collection<UInt8>) -> UnsafeMutablePointer<UInt8> {
    let target = reserve(bytes.count) + used
    _ = UnsafeMutableBufferPointer(start: target, count: bytes.count).update(fromContentsOf: bytes)
    used += bytes.count
    return target
  }

  /// Returns the memory, which has room for `count` more bytes.
  private func reserve(_ count: Int) -> UnsafeMutablePointer<UInt8> {
    if let memory, used + count <= capacity { return memory }
    let larger = max(used + count, capacity * 2, Self.leastCapacity)
    let moved = UnsafeMutablePointer<UInt8>.allocate(capacity: larger)
    if let memory { move(from: memory, to: moved) }
    memory = moved
    capacity = larger
    return moved
  }

  private func move(from old: UnsafeMutablePointer<UInt8>, to moved: UnsafeMutablePointer<UInt8>) {
    moved.update(from: old, count: used)
    for index in entries.indices {
      if entries[index].flags & Self.nameIsConstant == 0 {
        entries[index].name = moved + (entries[index].name - old)
      }
      if entries[index].flags & Self.valueIsConstant == 0 {
        entries[index].value = moved + (entries[index].value - old)
      }
    }
    old.deallocate()
  }
}

extension GRPCStatus {
  /// Names the largest field, which is usually the reason.
  static func headersTooLargeToSend(_ headers: HeaderWriter, limit: Int) -> GRPCStatus {
    var message = "the call's metadata takes \(headers.listSize) bytes, of \(limit) that can be sent"
    if let largest = headers.largestField {
      message += "; the largest is \(largest.name), with a value of \(largest.valueByteCount) bytes"
    }
    message += " (the peer's limit: ServerOptions.maxMetadataSize, or ChannelOptions.maxMetadataSize)"
    return GRPCStatus(code: .resourceExhausted, message: message, origin: .user)
  }

  static let headersNotSent = GRPCStatus(
    code: .resourceExhausted,
    message: "the call's metadata cannot be sent",
    origin: .user
  )
}
