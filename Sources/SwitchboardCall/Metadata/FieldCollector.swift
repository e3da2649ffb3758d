/// Gathers the fields of one block of headers after the other, as a connection brings them.
///
/// A peer says the same things in call after call: a list that is like one of the last two shares its memory. Two, since
/// headers and trailers take turns.
package final class FieldCollector {
  // Unchecked exclusivity: confined to the loop of its connection.

  /// The list that the fields have been like so far.
  @exclusivity(unchecked) private var model = HPACKHeaders()
  @exclusivity(unchecked) private var other = HPACKHeaders()
  /// How many fields have come that are like the model's; `nil` once one was not.
  @exclusivity(unchecked) private var sharedCount: Int? = 0
  /// The fields, where they are not like the model's.
  @exclusivity(unchecked) private var own = HPACKHeaders()

  /// What a connection keeps for longer than its calls.
  private static let largestModel = 1024

  package init() {}

  /// Forgets the fields of a block that nobody took.
  package func begin() {
    sharedCount = 0
    own = HPACKHeaders()
  }

  /// Takes a field as it came from the wire: the name is in lower case already.
  package func append(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
    if let count = sharedCount {
      if model.hasField(at: count, name, value) {
        sharedCount = count + 1
        return
      }
      if count == 0, other.hasField(at: 0, name, value) {
        swap(&model, &other)
        sharedCount = 1
        return
      }
      stopSharing(count)
    }
    own.append(name: name, value: value)
  }

  /// The fields of the block, which ends here.
  package func take() -> HPACKHeaders {
    if let count = sharedCount {
      sharedCount = 0
      if count == model.fieldCount { return model }
      if count == 0 { return HPACKHeaders() }
      stopSharing(count)
    }
    let fields = own
    begin()
    if fields.byteCount <= Self.largestModel {
      other = model
      model = fields
    }
    return fields
  }

  private func stopSharing(_ count: Int) {
    sharedCount = nil
    for index in 0..<count { model.withField(at: index) { own.append(name: $0, value: $1) } }
  }
}
