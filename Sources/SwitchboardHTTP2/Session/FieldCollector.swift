import SwitchboardCall

/// Collects the fields of one header block after another from a connection.
///
/// Peers repeat themselves from call to call: a list that equals one of the last two shares its memory. Two, because
/// headers and trailers alternate.
final class FieldCollector {
  // Unchecked exclusivity: confined to the loop of its connection.

  /// The list that the fields have matched so far.
  @exclusivity(unchecked) private var model = HPACKHeaders()
  @exclusivity(unchecked) private var other = HPACKHeaders()
  /// Numbers of the two lists, which no other list of the connection had.
  @exclusivity(unchecked) private var modelNumber = 1
  @exclusivity(unchecked) private var otherNumber = 0
  /// The number of the list that was taken last, if it was there before.
  @exclusivity(unchecked) private(set) var repeated: Int?
  /// How many fields have matched the model; `nil` after a mismatch.
  @exclusivity(unchecked) private var sharedCount: Int? = 0
  /// The fields, after a mismatch.
  @exclusivity(unchecked) private var own = HPACKHeaders()

  /// The largest list that a connection keeps for longer than its calls.
  private static let largestModel = 1024

  init() {}

  /// Discards the fields of a block that was not taken.
  func begin() {
    sharedCount = 0
    own = HPACKHeaders()
  }

  /// Adds a field from the wire, whose name is already in lower case.
  func append(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
    if let count = sharedCount {
      if model.hasField(at: count, name, value) {
        sharedCount = count + 1
        return
      }
      if count == 0, other.hasField(at: 0, name, value) {
        swap(&model, &other)
        swap(&modelNumber, &otherNumber)
        sharedCount = 1
        return
      }
      stopSharing(count)
    }
    own.append(name: name, value: value)
  }

  /// Ends the block and returns its fields.
  func take() -> HPACKHeaders {
    repeated = nil
    if let count = sharedCount {
      sharedCount = 0
      if count == model.fieldCount {
        repeated = modelNumber
        return model
      }
      if count == 0 { return HPACKHeaders() }
      stopSharing(count)
    }
    let fields = own
    begin()
    if fields.byteCount <= Self.largestModel {
      other = model
      model = fields
      (modelNumber, otherNumber) = (max(modelNumber, otherNumber) &+ 1, modelNumber)
    }
    return fields
  }

  private func stopSharing(_ count: Int) {
    sharedCount = nil
    for index in 0..<count { model.withField(at: index) { own.append(name: $0, value: $1) } }
  }
}
