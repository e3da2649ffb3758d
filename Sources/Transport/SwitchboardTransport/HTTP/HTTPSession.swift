// unsafe: received bytes, lent for one call

import SwitchboardCall
import SwitchboardNetwork

/// The version of HTTP that a connection speaks, as both sides use it.
///
/// ```
///                 HTTPSession
///          ┌───────────┴───────────┐
///   HTTPServerSession      HTTPClientSession
///      │          └─── Session ───┘   │          HTTP/2
///   HTTP1Session            HTTP1ClientSession   HTTP/1.1
/// ```
/// Neither version is made of the other. A connection has one of them once it is known what the peer speaks, and lends it
/// its `SessionParts`. Each of them does something for every requirement: what only one can do is not asked here.
protocol HTTPSession: Packable {
  /// What errors call the version.
  var version: StaticString { get }

  /// Processes received bytes. If it returns an offense, the connection must end.
  func receive(_ bytes: UnsafeRawBufferPointer, now: UInt64) -> Offense?

  /// Writes pending output, up to about `limit` bytes. The caller passes it to the socket.
  func drain(into output: OutputBuffer, limit: Int) -> Drained

  /// The number of the header block that was started and is incomplete; zero if there is none. Each block of the
  /// connection has another one than the block before.
  var incompleteHeaders: Int { get }

  /// Called when a stream whose body had to wait has more of it to send. The caller flushes the connection.
  func resume(_ id: Int32)

  /// Settles bytes that arrived on a stream. `credit` is how many bytes the stream's reader has room for; that may
  /// include bytes that were held before.
  func settle(arrived byteCount: Int, credit: Int, on id: Int32)

  /// Settles held bytes of a stream that were read.
  func settle(released byteCount: Int, on id: Int32)

  /// Settles held bytes of a stream that has closed.
  func forget(_ byteCount: Int)

  /// Why the headers in the connection's `headers` cannot be sent, if they cannot.
  var refusalOfHeaders: GRPCStatus? { get }

  /// Stops because of an offense, and tells the peer why, if the version can. `drain` writes it.
  func terminate(_ offense: Offense, _ reason: StaticString?)

  /// Called when the connection has closed. Ends all streams.
  func connectionDidClose()
}

extension HTTPSession {
  /// Whether a header block was started and is incomplete.
  var isInsideHeaders: Bool { incompleteHeaders != 0 }
}

/// What a client's side asks of the version of HTTP.
protocol HTTPClientSession: HTTPSession {
  /// How many requests may be in progress at the same time.
  var requestLimit: Int { get }

  /// How many such connections to one server a channel with these options may have.
  static func connectionLimit(_ options: ChannelOptions) -> Int

  /// Sends the connection's `headers`, and the stream's body, if it has one. `false`: the connection can take no more
  /// requests.
  func submitRequest<Stream: SessionStream>(_ stream: Stream, hasBody: Bool) -> Bool

  /// The last request whose headers were passed to the connection.
  var lastRequestSent: Int32 { get }

  /// Tells the server to stop. Returns a status if only the end of the connection can.
  func cancelRequest(_ id: Int32) -> GRPCStatus?

  /// Tells the server that no more requests follow. Returns a status if the connection can close at once.
  func finishRequests() -> GRPCStatus?
}

/// What a server's side asks of the version of HTTP.
protocol HTTPServerSession: HTTPSession {
  /// Sends the connection's `headers`, then the body, then the trailers.
  func submitResponse(_ stream: StreamEntry)

  /// The same with constant headers.
  func submitResponse(_ stream: StreamEntry, constant: ConstantHeaders)

  /// Sends the connection's `headers` as the whole response.
  func submitTrailersOnly(_ stream: StreamEntry)

  /// The largest header block that can be sent, as HTTP/2 counts its size.
  var headerListLimit: Int { get }

  /// Refuses the rest of a request, which nothing will read: its response was sent.
  func stopRequest(_ id: Int32)

  /// Gives up a response whose rest the peer does not read.
  func abandonResponse(_ id: Int32)

  /// Accepts no more requests, once the client knows, and ends when the others were answered. The caller flushes the
  /// connection.
  func startDraining()

  /// Decides what to do about a client from which bytes last arrived at `lastRead`.
  func checkSilence(
    _ keepalive: inout Keepalive,
    now: UInt64,
    lastRead: UInt64,
    isWriting: Bool
  ) -> Keepalive.Action

  /// Called when the client has ended its side and nothing more arrives. Whether it may still read what this side sends;
  /// if not, the connection closes.
  func peerDidEnd() -> Bool
}

/// What a connection shares with the version of HTTP that it speaks, whichever that is.
struct SessionParts {
  /// The head that is being written.
  let headers = HeaderWriter()
  /// The fields that streams keep of the head that is being received.
  let fields = FieldCollector()
  /// The open streams.
  let streams = StreamList()
}

/// An offense of the peer that ends the connection, and the error code to send.
struct Offense: Equatable {
  let abuse: PeerAbuse
  let code: HTTP2Error
  /// The status of the calls that end with the connection, if it says more than the kind of abuse.
  var explanation: GRPCStatus?

  /// The status of the calls that end with the connection, over which the peer speaks this protocol.
  func status(over version: StaticString) -> GRPCStatus {
    explanation
      ?? GRPCStatus(
        code: .unavailable,
        message: "the peer broke the \(version) protocol: \(abuse)",
        origin: .peer
      )
  }
}

/// How much of the pending output `drain` wrote.
enum Drained: Equatable {
  /// All that may be sent for now.
  case all
  /// As much as the limit allows.
  case some
  /// Nothing more can be sent.
  case failed
  /// The connection must end, because of what was found meanwhile.
  case offense(Offense)
  /// All that will ever be sent, so the connection ends. `onceWritten`: not before the socket has written it.
  case over(GRPCStatus, onceWritten: Bool)
}
