import Glibc
import HTTP2TestSupport
import OTLPMessages
import Switchboard
import SwitchboardCall
import TestSupport

/// A collector of spans over gRPC that answers what a test says, and then takes everything.
final class ScriptedGRPCCollector: Opentelemetry_Proto_Collector_Trace_V1_TraceServiceProvider {
  var interceptors: Interceptors? { nil }

  private let answers: Locked<[GRPCStatus]>
  let spanCount = Locked(0)
  /// Those of the last request.
  let headers = Locked(HPACKHeaders())

  init(_ answers: [GRPCStatus]) { self.answers = Locked(answers) }

  func export(
    request: Opentelemetry_Proto_Collector_Trace_V1_ExportTraceServiceRequest,
    context: ServerCallContext
  ) async throws -> Opentelemetry_Proto_Collector_Trace_V1_ExportTraceServiceResponse {
    headers.withLock { $0 = context.headers }
    let answer = answers.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    if let answer { throw answer }
    let count = request.resourceSpans.flatMap(\.scopeSpans).reduce(0) { $0 + $1.spans.count }
    spanCount.withLock { $0 += count }
    return Opentelemetry_Proto_Collector_Trace_V1_ExportTraceServiceResponse()
  }
}

/// A collector at a socket that accepts connections one after the other, and does with each what a test says.
final class ScriptedSocket: Sendable {
  let port: Int
  private let descriptor: Int32

  init() throws { (descriptor, port) = try LoopbackSocket.listening() }

  deinit { close(descriptor) }

  /// The next connection. Waits for it on a thread of its own.
  func accept() async -> RawPeer {
    await MayBlock.task { [descriptor] in RawPeer(adopting: Glibc.accept(descriptor, nil, nil)) }.value
  }

  /// Reads a POST request on the next connection, answers these bytes, and closes the connection. Returns the lines of
  /// the request's head in lower case.
  @discardableResult
  func answer(_ text: String) async -> [String] {
    let peer = await accept()
    return await MayBlock.task {
      let lines = peer.readRequest()
      peer.send(Array(text.utf8))
      return lines
    }.value
  }

  /// Reads what comes first on the next connection, answers these bytes, and closes the connection.
  func answer(_ bytes: [UInt8]) async {
    let peer = await accept()
    await MayBlock.task {
      _ = peer.readSome()
      peer.send(bytes)
    }.value
  }
}

extension RawPeer {
  /// Reads an HTTP/1.1 request with its body. Returns the lines of its head in lower case.
  func readRequest() -> [String] {
    var head: [UInt8] = []
    while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
      let byte = read(1)
      guard !byte.isEmpty else { return [] }
      head += byte
    }
    let lines = String(decoding: head, as: UTF8.self).lowercased().split(separator: "\r\n").map(String.init)
    let length = lines.first { $0.hasPrefix("content-length: ") }.flatMap { Int($0.dropFirst(16)) }
    _ = read(length ?? 0)
    return lines
  }
}
