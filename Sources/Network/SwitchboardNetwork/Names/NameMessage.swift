/// Checks and limits a message of a name server before c-ares reads it.
///
/// c-ares limits how many compression pointers a name follows, but not how long it becomes. In a message of 64 KiB,
/// thousands of records could each have a name of megabytes, which costs c-ares minutes and gigabytes. Names that
/// conform to RFC 1035 have at most 255 bytes. c-ares also walks over all earlier addresses for each one that it adds.
enum NameMessage {
  private static let headerSize = 12
  /// The size of the fields after a name: type, class, TTL and length.
  private static let recordSize = 10
  private static let alias = 5
  private static let maxNameLength = 255
  /// The most answers of a message that are passed to c-ares.
  static let maxAnswers = 2048
  /// The most compression pointers in a name, as in c-ares.
  private static let maxReferences = 50

  /// Whether the parts of the message that c-ares reads, the question and the answers, are complete and their names
  /// within the limits. If the message is marked as truncated, c-ares does not read its answers.
  static func isSound(_ bytes: [UInt8]) -> Bool {
    guard bytes.count >= headerSize, number(bytes, 4) == 1 else { return false }
    guard let question = end(ofName: headerSize, bytes), question + 4 <= bytes.count else { return false }
    let isCutOff = bytes[2] & 0x02 != 0
    var offset = question + 4
    for _ in 0..<(isCutOff ? 0 : min(maxAnswers, number(bytes, 6))) {
      guard let record = end(ofName: offset, bytes), record + recordSize <= bytes.count else { return false }
      let data = record + recordSize
      let end = data + number(bytes, data - 2)
      guard end <= bytes.count else { return false }
      if number(bytes, record) == alias {
        guard let name = self.end(ofName: data, bytes), name <= end else { return false }
      }
      offset = end
    }
    return true
  }

  /// Hides the answers above the limit from c-ares, which ignores everything after the answers.
  static func limitAnswers(of bytes: inout [UInt8]) {
    guard number(bytes, 6) > maxAnswers else { return }
    bytes[6] = UInt8(maxAnswers >> 8)
    bytes[7] = UInt8(maxAnswers & 0xff)
  }

  private static func number(_ bytes: [UInt8], _ offset: Int) -> Int {
    Int(bytes[offset]) << 8 | Int(bytes[offset + 1])
  }

  /// The position after a name; `nil` if the name is invalid or too long.
  private static func end(ofName start: Int, _ bytes: [UInt8]) -> Int? {
    var offset = start
    var end: Int?
    var length = 1
    var references = 0
    while offset < bytes.count {
      let byte = Int(bytes[offset])
      switch byte >> 6 {
      case 0 where byte == 0:
        return end ?? offset + 1
      case 0:
        length += byte + 1
        guard length <= maxNameLength else { return nil }
        offset += byte + 1
      case 3:
        references += 1
        guard offset + 1 < bytes.count, references <= maxReferences else { return nil }
        end = end ?? offset + 2
        offset = number(bytes, offset) & 0x3fff
      default:
        return nil
      }
    }
    return nil
  }
}
