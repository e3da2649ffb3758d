import SwitchboardDescriptors
import SwitchboardText

/// What was meant by a field that its message does not have.
enum FieldHint {
  /// The hint for an error about a message in JSON or in the text format; none if it is about something else.
  static func hints(for error: String, _ pool: DescriptorPool) -> [ShownText] {
    guard let (name, type) = unknownField(in: error), let table = pool.messageType(named: type) else {
      return []
    }
    let names = table.fields.flatMap { [$0.jsonName, $0.name] }
    return NearNames(of: name, in: names).best.map { ["Did you mean \"\($0)\"?"] } ?? []
  }

  /// The parts of `shop.Order has no field "nmae"`. The text format has other quotes.
  private static func unknownField(in text: String) -> (name: String, type: String)? {
    for quote in ["\"", "'"] {
      let parts = text.split(separator: " has no field " + quote, maxSplits: 1)
      guard parts.count == 2, let type = parts[0].split(separator: " ").last,
        let name = parts[1].split(separator: quote, omittingEmptySubsequences: false).first
      else { continue }
      return (String(name), String(type))
    }
    return nil
  }
}
