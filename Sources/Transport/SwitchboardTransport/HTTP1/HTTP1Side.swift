import SwitchboardCall
import SwitchboardNetwork

/// What the two sides of HTTP/1.1 have in common. There are no windows: while the reader of a message has no room, the
/// connection reads nothing.
protocol HTTP1Side: HTTPSession {
  associatedtype Side: Connection
  var connection: Side { get }
  var output: HTTP1Output { get set }

  /// Reads on, unless there is another reason to wait.
  func resumeReading()
}

extension HTTP1Side {
  var version: StaticString { "HTTP/1.1" }

  func settle(arrived byteCount: Int, credit: Int, on id: Int32) {
    if credit > 0 { resumeReading() } else { connection.socket.pauseReading() }
  }

  func settle(released byteCount: Int, on id: Int32) { resumeReading() }
  func forget(_ byteCount: Int) { resumeReading() }

  /// The flush that follows asks the stream for its body.
  func resume(_ id: Int32) { output.waits = false }

  /// Appends the next piece of a stream's body. A stream that has none for now is not asked again until it resumes.
  func appendBody(of stream: any SessionStream, to target: OutputBuffer) -> HTTP1Output.Progress {
    guard !output.waits else { return .wait }
    // Set before, because the stream may resume while it is asked.
    output.waits = true
    let progress = output.append(bodyOf: stream, to: target)
    if progress != .wait { output.waits = false }
    return progress
  }

  /// A peer cannot announce how large headers may be.
  var refusalOfHeaders: GRPCStatus? { connection.headers.refusalOfLines }

  // MARK: Memory

  /// Called before the session is used.
  @inline(__always)
  func use() { if !memory.isAwake { wake() } }

  /// Frees what the next head makes again.
  func freeHeads() {
    connection.headers.freeMemory()
    connection.parts.fields.forgetLists()
  }
}
