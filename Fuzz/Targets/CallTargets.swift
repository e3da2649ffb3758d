import SwitchboardBalancing
import SwitchboardCall

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Parsers used in calls, without connections.
enum CallTargets {
  /// The first byte is the size of the pieces in which the rest is fed: the result must be that for the whole.
  static func deframer(_ input: [UInt8]) throws {
    guard let size = input.first else { return }
    let bytes = input.dropFirst()
    let whole = messages(bytes, pieces: max(1, bytes.count))
    let pieces = messages(bytes, pieces: max(1, Int(size)))
    try BrokenPromise.unless(whole == pieces, "pieces of \(size) give different messages than the whole")
  }

  private struct Deframed: Equatable {
    var messages: [[UInt8]] = []
    var failure: GRPCStatus.Code?
    var isInsideMessage = false
  }

  private static func messages(_ bytes: ArraySlice<UInt8>, pieces size: Int) -> Deframed {
    var deframer = Deframer(limit: .request(1 << 16))
    var found = Deframed()
    var rest = bytes
    do {
      while !rest.isEmpty {
        try rest.prefix(size).withUnsafeBytes { piece in
          _ = Deframer.wholeMessage(in: piece, limit: .request(1 << 16))
          var rest = piece
          while let message = try deframer.next(&rest) {
            found.messages.append(message.withBytes { $0.withUnsafeBytes(Array.init) })
          }
        }
        rest = rest.dropFirst(size)
      }
      found.isInsideMessage = deframer.isInsideMessage
    } catch {
      found.failure = GRPCStatus(describing: error).code
    }
    return found
  }

  /// Alternating names and values, each terminated by a zero byte.
  static func metadata(_ input: [UInt8]) throws {
    let parts = input.split(separator: 0, omittingEmptySubsequences: false)
    var request = RequestHead(listSizeLimit: 4096)
    var response = ResponseHead(listSizeLimit: 4096)
    var headers = HPACKHeaders()
    let (requestFields, fields) = (FieldCollector(), FieldCollector())
    for index in stride(from: 0, to: parts.count - 1, by: 2) {
      let (name, value) = (Array(parts[index]), Array(parts[index + 1]))
      name.withUnsafeBufferPointer { name in
        value.withUnsafeBufferPointer { value in
          request.add(name, value, requestFields)
          _ = response.add(name, value)
          headers.append(name: name, value: value)
        }
      }
      try EncodingTargets.run(value)
    }
    request.fieldsDidEnd(requestFields)
    try collect(headers, in: fields)
    _ = (request.rejection, response.failure, response.status, response.isInformational)
    for (name, value) in headers.prefix(8) {
      _ = (headers[name], headers[binary: name], headers.contains(name: value), headers.first(name: value))
    }
    _ = (headers.description, headers.hashValue, request.metadata == headers)
    if let name = headers.first?.name { headers.remove(name: name) }
  }

  /// Adds blocks of more and more fields, twice: reading returns what was added.
  private static func collect(_ headers: HPACKHeaders, in fields: FieldCollector) throws {
    for count in [headers.fieldCount, headers.fieldCount, headers.fieldCount / 2, headers.fieldCount] {
      var given = HPACKHeaders()
      fields.begin()
      for index in 0..<count {
        headers.withField(at: index) {
          given.append(name: $0, value: $1)
          fields.append(name: $0, value: $1)
        }
      }
      try BrokenPromise.unless(fields.take() == given, "the fields have changed")
    }
  }

  static func timeout(_ input: [UInt8]) throws {
    guard let timeout = GRPCTimeout(input) else { return }
    let encoded = timeout.encoded
    guard let again = GRPCTimeout(encoded) else {
      throw BrokenPromise(description: "\(timeout) is encoded as \(encoded), which is not a timeout")
    }
    // Rounded up, except for values beyond eight digits of hours.
    try BrokenPromise.unless(
      again.nanoseconds >= timeout.nanoseconds,
      "\(timeout) becomes the shorter \(again)"
    )
  }

  static func target(_ input: [UInt8]) throws {
    let resolver = AddressResolver()
    let schemes = Set(resolver.schemes)
    let text = String(decoding: input, as: UTF8.self)
    guard let target = try? Target(text, schemes: schemes, fallback: "dns") else { return }
    guard schemes.contains(target.scheme) else {
      _ = HostAndPort(target.endpoint)
      return
    }
    guard let addresses = try? AddressResolver.addresses(of: target) else { return }
    try BrokenPromise.unless(!addresses.isEmpty, "a target without an address")
    for address in addresses {
      guard let port = address.port, address.isIP else { continue }
      let again = EndpointAddress(ip: address.host, port: port)
      try BrokenPromise.unless(again == address, "\(address) is written so that it is read as another")
    }
  }
}
