// unsafe: nghttp2: one owner a session, callbacks within one call into it

import SwitchboardCall

/// The protocol of a connection, for the connection and its streams: `Session` is HTTP/2, `HTTP1Session` is HTTP/1.1 on
/// the server, and `HTTP1ClientSession` on the client.
/// Use `ConnectionParts.withWire` to call the one in use.
protocol WireSession: AnyObject {
  // MARK: Bytes

  /// Processes received bytes. If it returns an offence, the connection must end.
  func receive(_ bytes: UnsafeRawBufferPointer, now: UInt64) -> Offence?

  /// Writes pending output, up to about `limit` bytes.
  func drain(into output: OutputBuffer, limit: Int) -> Drained

  /// Called after `drain` when its output was passed to the socket. `isWriting` says whether the socket still has some
  /// of it. Returns a reason if the connection must end.
  func didDrain(isWriting: Bool) -> WireEnd?

  /// The number of the header block that was started and is incomplete; zero if there is none. Each block of the
  /// connection has another one than the block before.
  var incompleteHeaders: Int { get }

  /// The number of frames that wait to be sent, except those with data.
  var unsentFrames: Int { get }

  // MARK: Requests of a client

  /// How many requests may be in progress at the same time.
  var requestLimit: Int { get }

  /// Sends the headers in the session's `headers`, and the stream's body, if it has one. `false`: the connection can take
  /// no more requests.
  func submitRequest(_ stream: ClientCallStream, hasBody: Bool) -> Bool

  /// Tells the server to stop. Returns a status if only the end of the connection can.
  func cancelRequest(_ id: Int32) -> GRPCStatus?

  /// Tells the server that no more requests follow. Returns a status if the connection can close at once.
  func finishRequests() -> GRPCStatus?

  // MARK: Requests at a server

  /// Settles bytes that arrived on a stream. `credit` is how many bytes the stream's reader has room for; that may
  /// include bytes that were held before.
  func settle(arrived byteCount: Int, credit: Int, on id: Int32)

  /// Settles held bytes of a stream that were read.
  func settle(released byteCount: Int, on id: Int32)

  /// Settles held bytes of a stream that has closed.
  func forget(_ byteCount: Int)

  /// Refuses the rest of a request, which nothing will read.
  func stopRequest(_ id: Int32)

  // MARK: Responses

  /// Sends the headers in the session's `headers`, then the body, then the trailers.
  func submitResponse(_ stream: StreamEntry)

  /// Sends the headers in the session's `headers` as the whole response.
  func submitTrailersOnly(_ stream: StreamEntry)

  /// Called when a stream has more of its body to send. The caller flushes the connection.
  func resume(_ id: Int32)

  /// Gives up a response whose rest the peer does not read.
  func abandonResponse(_ id: Int32)

  /// Why the headers in the session's `headers` cannot be sent, if they cannot.
  var refusalOfHeaders: GRPCStatus? { get }

  /// The largest header block that can be sent, as HTTP/2 counts its size.
  var headerListLimit: Int { get }

  // MARK: The end

  /// Announces that the connection will accept no more requests. The caller flushes the connection, and then calls
  /// `confirmDrain`.
  func announceDrain()

  /// Asks the peer to confirm that it has received the announcement.
  func confirmDrain()

  /// Decides what to do about a peer from which bytes last arrived at `lastRead`.
  func checkSilence(
    _ keepalive: inout Keepalive,
    now: UInt64,
    lastRead: UInt64,
    isWriting: Bool
  ) -> Keepalive.Action

  /// Tells the peer why the connection ends, if the protocol can. `drain` writes it.
  func terminate(_ offence: Offence, _ reason: StaticString?)

  /// Called when the peer has ended its side and nothing more arrives. Whether it may still read what this side sends; if
  /// not, the connection closes.
  func peerDidEnd() -> Bool

  /// Called when the connection has closed. Ends all streams.
  func connectionDidClose()
}

extension WireSession {
  /// Whether a header block was started and is incomplete.
  var isInsideHeaders: Bool { incompleteHeaders != 0 }
}

/// An offence of the peer that ends the connection, and the error code to send.
struct Offence {
  let abuse: PeerAbuse
  let code: HTTP2Error
  /// The status of the calls that end with the connection, if it says more than the kind of abuse.
  var explanation: GRPCStatus?

  /// The status of the calls that end with the connection.
  func status(isHTTP1: Bool) -> GRPCStatus {
    explanation
      ?? GRPCStatus(
        code: .unavailable,
        message: "the peer broke the \(isHTTP1 ? "HTTP/1.1" : "HTTP/2") protocol: \(abuse)",
        origin: .peer
      )
  }
}

/// How much of the pending output `drain` wrote.
enum Drained { case all, some, failed }

/// Why a connection ends after its output was written.
enum WireEnd {
  case offence(Offence)
  case status(GRPCStatus)
}
