import Switchboard
import SwitchboardProtobuf
import SwitchboardText

/// Forwards calls to a server, and records rules that answer them in the same way.
package final class MockRecorder: Sendable {
  /// The rule recorded for one call.
  private struct Entry: Sendable {
    let key: Key
    let request: String
    var text: String
  }

  /// A request that only one rule of a file may answer: the pattern that its reader makes of the request.
  private enum Key: Hashable, Sendable {
    case pattern(method: String, RequestPattern)
    /// The pattern has a value that equals nothing.
    case text(method: String, ExactText)
  }

  private struct Content: Sendable {
    var entries: [Entry] = []
    /// The index of the rule for each request. A later answer to the same request replaces it.
    var indices: [Key: Int] = [:]
    var byteCount = 0
    /// How often the rules have changed, and after how many changes they were last written.
    var changeCount = 0
    var writtenCount = 0
    /// Calls for which there was no room.
    var full = 0
    /// Calls whose answer is known only in part.
    var partial = 0
  }

  /// The rules as a file, at one moment.
  package struct Changes: Sendable {
    package let text: String
    /// The number of the last change.
    fileprivate let number: Int
  }

  package static let ruleLimit = 10_000
  package static let byteLimit = 64 << 20
  /// The most messages of one call that is recorded. A call with more is only forwarded.
  static let messageLimit = 1000

  private let content = Locked(Content())
  private let encoding: JSONEncodingOptions
  private let decoding: JSONDecodingOptions

  package init(_ schema: MockSchema) {
    var options = JSONEncodingOptions()
    options.typeRegistry = schema.types
    encoding = options
    decoding = schema.jsonOptions
  }

  /// The services of a schema, which forward their calls to `channel`. The fields of `metadata` replace those of the same
  /// name that a caller sent. `hasStatusInTrailers` says whether the channel's protocol has a `grpc-status`.
  package func providers(
    _ schema: MockSchema,
    to channel: Channel,
    adding metadata: HPACKHeaders = HPACKHeaders(),
    hasStatusInTrailers: Bool = true
  ) -> [any CallHandlerProvider] {
    schema.services.map {
      RecordingService(
        serviceName: $0.name,
        methods: $0.methods,
        types: schema.types,
        channel: channel,
        metadata: metadata,
        hasStatusInTrailers: hasStatusInTrailers,
        recorder: self
      )
    }
  }

  /// How many rules were recorded, and how many calls were not: those that exceeded the limits, and those whose answer was
  /// cut short.
  package var counts: (rules: Int, left: (full: Int, partial: Int)) {
    content.withLock { content in
      (rules: content.entries.count, left: (full: content.full, partial: content.partial))
    }
  }

  /// The rules as a file; nil if the last ones were written.
  package func changes() -> Changes? {
    content.withLock { content in
      guard content.changeCount > content.writtenCount else { return nil }
      // A request that lacks a field matches those that have it too. It is the shorter one, so it comes later.
      let entries = content.entries.sorted { $0.request.utf8.count > $1.request.utf8.count }
      let text = entries.map(\.text).joined()
      return Changes(text: "rules:\n" + text, number: content.changeCount)
    }
  }

  /// Notes that a file was written.
  package func didWrite(_ changes: Changes) { content.withLock { $0.writtenCount = changes.number } }

  /// Notes a call that was forwarded and is not recorded, because a rule of it would answer otherwise than the server.
  func leaveOut() { content.withLock { $0.partial += 1 } }

  func record(_ calls: [RecordedCall]) {
    for call in calls { record(call) }
  }

  /// Records a call, unless its messages cannot be decoded. Such a call was forwarded all the same.
  func record(_ call: RecordedCall) {
    guard let rule = rule(call) else { return }
    let size = rule.text.utf8.count + rule.request.utf8.count
    content.withLock { content in
      if let index = content.indices[rule.key] {
        content.byteCount += size - content.entries[index].text.utf8.count - rule.request.utf8.count
        content.entries[index] = rule
      } else {
        guard content.entries.count < Self.ruleLimit, content.byteCount + size <= Self.byteLimit else {
          content.full += 1
          return
        }
        content.indices[rule.key] = content.entries.count
        content.entries.append(rule)
        content.byteCount += size
      }
      content.changeCount += 1
    }
  }

  private func rule(_ call: RecordedCall) -> Entry? {
    let method = call.method
    guard let request = json(call.request, method.request),
      let key = key(ofRequest: request, to: method)
    else { return nil }
    var lines = ["  - method: \(DocumentValue.quoted(method.path))", "    match: \(request)"]
    if method.type.streamsResponses {
      let answers = call.responses.compactMap { json($0, method.response) }
      guard answers.count == call.responses.count else { return nil }
      lines.append("    stream:" + (answers.isEmpty ? " []" : ""))
      lines += answers.map { "      - \($0)" }
    } else if call.status == nil {
      guard let answer = call.responses.first.flatMap({ json($0, method.response) }) else { return nil }
      lines.append("    answer: \(answer)")
    }
    if let status = call.status {
      let code = status.code.specName
      lines.append("    status: {code: \(code), message: \(DocumentValue.quoted(status.message ?? ""))}")
    }
    let milliseconds = Int(call.delay / .milliseconds(1))
    if milliseconds > 0 { lines.append("    delay: \(min(milliseconds, 3_600_000))ms") }
    return Entry(key: key, request: request, text: lines.joined(separator: "\n") + "\n")
  }

  private func key(ofRequest json: String, to method: MockMethod) -> Key? {
    guard let document = try? DocumentReader.read(json),
      let pattern = try? RequestPattern(document, method.request, decoding),
      let same = try? RequestPattern(document, method.request, decoding)
    else { return nil }
    // Not so if they have a NaN.
    return pattern == same
      ? .pattern(method: method.path, pattern) : .text(method: method.path, ExactText(json))
  }

  private func json(_ bytes: [UInt8], _ type: MessageTable) -> String? {
    let message = try? DynamicMessage(type, serializedBytes: bytes, partial: true)
    return try? message?.jsonString(partial: true, options: encoding)
  }
}

/// A forwarded call.
struct RecordedCall: Sendable {
  let method: MockMethod
  let request: [UInt8]
  var responses: [[UInt8]] = []
  var status: GRPCStatus?
  /// The time until the first response, or until the end.
  var delay = Duration.zero

  /// The records of a call that may stream. A mock answers each request separately: if there are as many responses as
  /// requests, each request gets one; otherwise the first request gets all.
  static func all(
    of method: MockMethod,
    requests: [[UInt8]],
    responses: [[UInt8]],
    status: GRPCStatus?,
    delay: Duration
  ) -> [RecordedCall] {
    let first = requests.first ?? []
    guard method.type.streamsRequests, requests.count > 1 else {
      return [
        RecordedCall(method: method, request: first, responses: responses, status: status, delay: delay)
      ]
    }
    if status == nil, requests.count == responses.count {
      return zip(requests, responses).enumerated().map { index, pair in
        RecordedCall(method: method, request: pair.0, responses: [pair.1], delay: index == 0 ? delay : .zero)
      }
    }
    let others = requests.dropFirst().filter { $0 != first }.map { RecordedCall(method: method, request: $0) }
    return [RecordedCall(method: method, request: first, responses: responses, status: status, delay: delay)]
      + others
  }
}
