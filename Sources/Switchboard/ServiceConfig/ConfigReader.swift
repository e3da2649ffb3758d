import SwitchboardProtobuf

/// Reads the members of one object of a service config. Errors say where the object is.
struct ConfigReader {
  private let members: [String: Google_Protobuf_Value]
  private let place: String

  init(_ object: Google_Protobuf_Struct, at place: String) {
    members = object.fields
    self.place = place
  }

  func failure(_ name: String, _ reason: String) -> GRPCStatus {
    .invalidServiceConfig("\(path(name)): \(reason)")
  }

  private func path(_ name: String) -> String { place.isEmpty ? name : "\(place).\(name)" }

  /// The value of a member, unless it is missing or null.
  private func kind(_ name: String) -> Google_Protobuf_Value.OneOf_Kind? {
    if case .nullValue = members[name]?.kind { return nil }
    return members[name]?.kind
  }

  func required<Value>(_ name: String, _ value: Value?) throws(GRPCStatus) -> Value {
    guard let value else { throw failure(name, "is missing") }
    return value
  }

  func string(_ name: String) throws(GRPCStatus) -> String? {
    switch kind(name) {
    case nil: return nil
    case .stringValue(let text): return text
    default: throw failure(name, "is not a string")
    }
  }

  func bool(_ name: String) throws(GRPCStatus) -> Bool? {
    switch kind(name) {
    case nil: return nil
    case .boolValue(let value): return value
    default: throw failure(name, "is neither true nor false")
    }
  }

  /// A number, which JSON may also spell as a string.
  func number(_ name: String) throws(GRPCStatus) -> Double? {
    switch kind(name) {
    case nil: return nil
    case .numberValue(let value): return value
    case .stringValue(let text):
      guard let value = Double(text) else { throw failure(name, "is not a number") }
      return value
    default: throw failure(name, "is not a number")
    }
  }

  /// A non-negative integer.
  func count(_ name: String) throws(GRPCStatus) -> Int? {
    guard let number = try number(name) else { return nil }
    guard let count = Int(exactly: number), count >= 0 else {
      throw failure(name, "is not a whole number of 0 or more")
    }
    return count
  }

  /// A non-negative duration, such as `"1.5s"`.
  func duration(_ name: String) throws(GRPCStatus) -> Duration? {
    guard let text = try string(name) else { return nil }
    do {
      let json = try Google_Protobuf_Value(text).jsonString()
      let duration = try Google_Protobuf_Duration(jsonString: json)
      guard duration.seconds >= 0, duration.nanos >= 0 else { throw failure(name, "is below zero") }
      return .seconds(duration.seconds) + .nanoseconds(Int64(duration.nanos))
    } catch let status as GRPCStatus {
      throw status
    } catch {
      throw failure(name, "is not a duration such as \"1.5s\"")
    }
  }

  func object(_ name: String) throws(GRPCStatus) -> ConfigReader? {
    switch kind(name) {
    case nil: return nil
    case .structValue(let object): return ConfigReader(object, at: path(name))
    default: throw failure(name, "is not an object")
    }
  }

  func objects(_ name: String) throws(GRPCStatus) -> [ConfigReader]? {
    guard let values = try list(name) else { return nil }
    var readers: [ConfigReader] = []
    for (position, value) in values.enumerated() {
      guard case .structValue(let object) = value.kind else {
        throw failure("\(name)[\(position)]", "is not an object")
      }
      readers.append(ConfigReader(object, at: path("\(name)[\(position)]")))
    }
    return readers
  }

  /// Codes, by name (`"UNAVAILABLE"`, in any case) or by number.
  func codes(_ name: String) throws(GRPCStatus) -> Set<GRPCStatus.Code> {
    var codes: Set<GRPCStatus.Code> = []
    for (position, value) in (try list(name) ?? []).enumerated() {
      let code: GRPCStatus.Code?
      switch value.kind {
      case .stringValue(let text): code = GRPCStatus.Code(configName: text)
      case .numberValue(let number): code = Int(exactly: number).flatMap { GRPCStatus.Code(rawValue: $0) }
      default: code = nil
      }
      guard let code else { throw failure("\(name)[\(position)]", "is not a status code") }
      codes.insert(code)
    }
    return codes
  }

  private func list(_ name: String) throws(GRPCStatus) -> [Google_Protobuf_Value]? {
    switch kind(name) {
    case nil: return nil
    case .listValue(let list): return list.values
    default: throw failure(name, "is not an array")
    }
  }
}

extension GRPCStatus.Code {
  private static let configNames: [String] = [
    "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
    "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE",
    "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
  ]

  init?(configName: String) {
    guard let number = Self.configNames.firstIndex(of: configName.uppercased()) else { return nil }
    self.init(rawValue: number)
  }
}
