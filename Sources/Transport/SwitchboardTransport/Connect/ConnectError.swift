import SwitchboardBalancing
import SwitchboardCall
import SwitchboardText

/// Errors and trailers of the Connect protocol in JSON.
struct ConnectError {
  /// Converts the bytes of a detail to readable JSON; see `WebOptions.detailJSON`.
  let describe: WebOptions.DetailJSON?
  /// Told of the type of a detail whose description is not JSON.
  var refuse: @Sendable (_ type: String) -> Void = { _ in }

  /// `{"code":"not_found","message":"no such book","details":[...]}`
  func json(of status: GRPCStatus) -> [UInt8] {
    var json = JSONBytes()
    write(status, to: &json)
    return json.bytes
  }

  /// `{"error":{...},"metadata":{"name":["value"]}}`
  func endOfStream(_ status: GRPCStatus, _ trailers: HPACKHeaders?) -> [UInt8] {
    var json = JSONBytes()
    json.raw("{")
    if !status.isOk {
      json.raw("\"error\":")
      write(status, to: &json)
    }
    if let trailers, !trailers.isEmpty {
      json.raw(status.isOk ? "\"metadata\":{" : ",\"metadata\":{")
      write(trailers, to: &json)
      json.raw("}")
    }
    json.raw("}")
    return json.bytes
  }

  private func write(_ status: GRPCStatus, to json: inout JSONBytes) {
    json.raw("{\"code\":\"\(ConnectCode.name(status.code))\"")
    if let message = status.message, !message.isEmpty {
      json.raw(",\"message\":")
      json.string(message)
    }
    let details = status.packedDetails.map(StatusDetail.unpack) ?? []
    for (index, detail) in details.enumerated() {
      json.raw(index == 0 ? ",\"details\":[{\"type\":" : ",{\"type\":")
      json.string(detail.type)
      json.raw(",\"value\":\"")
      json.bytes += Base64.encode(detail.value)
      json.raw("\"")
      if let debug = debug(detail) {
        json.raw(",\"debug\":")
        json.bytes += debug.utf8
      }
      json.raw("}")
    }
    json.raw(details.isEmpty ? "}" : "]}")
  }

  /// What the option says of a detail. A text that is no JSON would make the whole body unreadable.
  private func debug(_ detail: StatusDetail) -> String? {
    guard let debug = describe?(detail.type, detail.value) else { return nil }
    guard (try? ConfigValue(json: debug, boundsText: false)) != nil else {
      refuse(detail.type)
      return nil
    }
    return debug
  }

  /// Writes all values of a name at the place of the first one.
  private func write(_ trailers: HPACKHeaders, to json: inout JSONBytes) {
    var order: [String] = []
    var values: [ExactText: [String]] = [:]
    for (name, value) in trailers where Self.mayTravel(name) {
      if values[name] == nil { order.append(name) }
      values[ExactText(name), default: []].append(value)
    }
    for (index, name) in order.enumerated() {
      if index > 0 { json.raw(",") }
      json.string(name)
      json.raw(":[")
      for (index, value) in (values[name] ?? []).enumerated() {
        if index > 0 { json.raw(",") }
        json.string(value)
      }
      json.raw("]")
    }
  }

  private static func mayTravel(_ name: String) -> Bool {
    var name = name
    return name.withUTF8 { ReservedHeaders.allow($0) }
  }
}

/// JSON under construction.
struct JSONBytes {
  var bytes: [UInt8] = []

  mutating func raw(_ text: String) { bytes += text.utf8 }

  mutating func string(_ text: String) { raw(JSONText.string(text)) }
}
