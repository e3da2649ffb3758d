import SwitchboardCall

/// The counters of one connection. They are plain integers, because only its loop uses them.
///
/// Times are the loop's time when it last woke up; zero means never.
struct ConnectionCounters {
  private(set) var streamsStarted = 0
  /// The number of streams on which the responding side has sent its last frame.
  private(set) var streamsSucceeded = 0
  private(set) var streamsFailed = 0
  /// The number of streams that ended with the status OK. Only servers count it; on clients, the channel counts calls.
  private(set) var callsSucceeded = 0
  private(set) var messagesSent = 0
  private(set) var messagesReceived = 0
  var keepalivesSent = 0
  private(set) var lastStream: UInt64 = 0
  private(set) var lastMessageSent: UInt64 = 0
  private(set) var lastMessageReceived: UInt64 = 0
  /// How often the peer broke each rule that does not end the connection at once.
  private(set) var abuses: [PeerAbuse: Int] = [:]

  mutating func streamStarted(at time: UInt64) {
    streamsStarted += 1
    lastStream = time
  }

  mutating func streamEnded(isWhole: Bool, isOk: Bool = false) {
    if isWhole { streamsSucceeded += 1 } else { streamsFailed += 1 }
    if isOk { callsSucceeded += 1 }
  }

  mutating func peerAbused(_ abuse: PeerAbuse) { abuses[abuse, default: 0] += 1 }

  mutating func sent(_ count: Int, at time: UInt64) {
    messagesSent += count
    lastMessageSent = time
  }

  mutating func receivedMessage(at time: UInt64) {
    messagesReceived += 1
    lastMessageReceived = time
  }
}

/// The calls of some connections or of a channel. Times are on the clock of a loop.
struct CallTotals {
  private(set) var started = 0
  private(set) var succeeded = 0
  private(set) var failed = 0
  private(set) var lastStarted: UInt64 = 0

  var inProgress: Int { started - succeeded - failed }

  mutating func callStarted(at time: UInt64) {
    started += 1
    lastStarted = time
  }

  mutating func callEnded(isOk: Bool) {
    if isOk { succeeded += 1 } else { failed += 1 }
  }

  /// Adds the calls of a server's connection, where each stream is a call.
  mutating func add(_ counters: ConnectionCounters) {
    started += counters.streamsStarted
    succeeded += counters.callsSucceeded
    failed += counters.streamsSucceeded + counters.streamsFailed - counters.callsSucceeded
    lastStarted = max(lastStarted, counters.lastStream)
  }
}
