// unsafe: confined to its connection's loop; compares and copies bytes that are lent for one call

import SwitchboardCall

/// Collects the fields of one header block after another from a connection.
///
/// Peers repeat themselves from call to call: a list that equals one of the last two shares its memory. Two, because
/// headers and trailers alternate.
final class FieldCollector {
  // Unchecked exclusivity: confined to the loop of its connection.

  /// The list that the fields have matched so far. It is replaced, and never changed.
  @exclusivity(unchecked) private var model = HPACKHeaders()
  @exclusivity(unchecked) private var other = HPACKHeaders()
  /// Numbers of the two lists, which no other list of the connection had.
  @exclusivity(unchecked) private var modelNumber = 1
  @exclusivity(unchecked) private var otherNumber = 0
  /// Whether the lists, and the fields of this block, end with the field that `complete` adds.
  @exclusivity(unchecked) private var modelIsCompleted = false
  @exclusivity(unchecked) private var otherIsCompleted = false
  @exclusivity(unchecked) private var isCompleted = false
  /// The number of the list that was taken last, if it was there before.
  var repeated: Int? { isRepeated ? number : nil }
  @exclusivity(unchecked) private var isRepeated = false
  /// The number of the list that was taken last, if it was not large. That of an empty list may be zero.
  @exclusivity(unchecked) private(set) var number: Int?
  /// The first field of the model that has not been matched.
  @exclusivity(unchecked) private var cursor = FieldCursor(HPACKHeaders())
  /// Whether all fields have matched the model.
  @exclusivity(unchecked) private var isShared = true
  /// The fields, after a mismatch.
  @exclusivity(unchecked) private var own = HPACKHeaders()

  /// The largest list that a connection keeps for longer than its calls.
  private static let largestModel = 1024

  init() {}

  /// Discards the fields of a block that was not taken.
  func begin() {
    isShared = true
    isCompleted = false
    cursor.rewind()
    own = HPACKHeaders()
  }

  /// Forgets the lists, which frees their memory. Not called within a block.
  func forgetLists() {
    let number = max(modelNumber, otherNumber)
    (modelNumber, otherNumber) = (number &+ 2, number &+ 1)
    (model, other) = (HPACKHeaders(), HPACKHeaders())
    (modelIsCompleted, otherIsCompleted) = (false, false)
    cursor = FieldCursor(model)
    begin()
  }

  /// Adds a last field that did not arrive, always the same one: so it need not be compared with the model's.
  func complete(with name: StaticString, _ value: StaticString) {
    if isShared, modelIsCompleted, cursor.isBeforeLast { return cursor.skip() }
    append(
      name: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount),
      value: UnsafeBufferPointer(start: value.utf8Start, count: value.utf8CodeUnitCount)
    )
    isCompleted = true
  }

  /// Adds a field from the wire, whose name is already in lower case.
  func append(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
    if isShared {
      if cursor.pass(name, value) { return }
      if cursor.index == 0, matchesOther(name, value) { return }
      stopSharing()
    }
    own.append(name: name, value: value)
  }

  /// Takes the other list as the model if its first field is this one.
  private func matchesOther(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) -> Bool {
    var first = FieldCursor(other)
    guard first.pass(name, value) else { return false }
    swap(&model, &other)
    swap(&modelNumber, &otherNumber)
    swap(&modelIsCompleted, &otherIsCompleted)
    cursor = first
    return true
  }

  /// Ends the block and returns its fields.
  func take() -> HPACKHeaders {
    isRepeated = false
    number = 0
    if isShared {
      if cursor.isAtEnd {
        cursor.rewind()
        if isCompleted { (modelIsCompleted, isCompleted) = (true, false) }
        isRepeated = true
        number = modelNumber
        return model
      }
      if cursor.index == 0 { return HPACKHeaders() }
      stopSharing()
    }
    own.markReceived()
    let fields = own
    number = nil
    if fields.byteCount <= Self.largestModel {
      other = model
      model = fields
      cursor = FieldCursor(model)
      (modelIsCompleted, otherIsCompleted) = (isCompleted, modelIsCompleted)
      (modelNumber, otherNumber) = (max(modelNumber, otherNumber) &+ 1, modelNumber)
      number = modelNumber
    }
    begin()
    return fields
  }

  private func stopSharing() {
    isShared = false
    for index in 0..<cursor.index { model.withField(at: index) { own.append(name: $0, value: $1) } }
  }
}
