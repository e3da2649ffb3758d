import ConsoleMessages
import SwitchboardCall
import SwitchboardProtobuf
import SwitchboardTransport

/// Takes profiles of the event loops, one at a time, and keeps the last one.
///
/// It looks at what each loop says that it does, from the console's own thread, and stops no loop for that: the loops say it
/// all the time, for the log of blocked loops. So while no profile is taken, none costs anything.
final class ProfileTaker: Sendable {
  /// What a look needs of a loop.
  private struct Watched: Sendable {
    let probe: LoopProbe
    var names: [String]
  }

  private let entries: ConsoleEntries
  private let clock: ConsoleClock
  private let state = Locked(Switchboard_Console_V1_Profile?.none)

  /// The time between two looks.
  static let interval = Duration.milliseconds(5)
  /// The most loops that are looked at.
  private static let mostLoops = 64

  init(_ entries: ConsoleEntries, _ clock: ConsoleClock) {
    self.entries = entries
    self.clock = clock
  }

  /// The last profile, which may still be taken.
  var latest: Switchboard_Console_V1_Profile? { state.withLock { $0 } }

  /// Begins one, unless one is taken.
  func begin(_ length: Duration) throws(GRPCStatus) {
    let watched = watched
    guard !watched.isEmpty else {
      throw GRPCStatus(
        code: .failedPrecondition,
        message: "the console shows no server and no channel, and so no loops"
      )
    }
    let mayBegin = state.withLock { profile in
      guard profile?.isRunning != true else { return false }
      profile = .with {
        $0.start = .now()
        $0.seconds = length / .seconds(1)
        $0.isRunning = true
      }
      return true
    }
    guard mayBegin else {
      throw GRPCStatus(code: .failedPrecondition, message: "a profile is being taken: wait for it to end")
    }
    // The threads of the process may be what is too busy.
    Task.detached(executorPreference: clock.loop) { [self] in await take(watched, length) }
  }

  /// The loops of all servers and channels, each once.
  private var watched: [Watched] {
    var watched: [Watched] = []
    func add(_ probe: LoopProbe, _ name: String) {
      if let index = watched.firstIndex(where: { $0.probe.id == probe.id }) {
        watched[index].names.append(name)
      } else if watched.count < Self.mostLoops {
        watched.append(Watched(probe: probe, names: [name]))
      }
    }
    for known in entries.servers {
      for probe in known.server.probes { add(probe, known.name.isEmpty ? "server" : known.name) }
    }
    for known in entries.channels {
      if let probe = known.channel.probe { add(probe, known.name.isEmpty ? "channel" : known.name) }
    }
    return watched
  }

  private func take(_ watched: [Watched], _ length: Duration) async {
    var profile = LoopProfile()
    let time = clock.time
    let end = time.now.advanced(by: length)
    var next = time.now
    while next < end {
      next = max(next.advanced(by: Self.interval), time.now)
      // If the console is shut down, what there is is shown.
      guard (try? await time.sleep(until: next, on: clock.loop)) != nil else { break }
      profile.add(watched.map(\.probe.sight))
    }
    let frames = frames(of: profile, watched)
    state.withLock { state in
      state?.isRunning = false
      state?.looks = UInt32(clamping: profile.looks)
      state?.frames = frames
      state?.isCut = profile.isCut
    }
  }

  private func frames(of profile: LoopProfile, _ watched: [Watched]) -> [Switchboard_Console_V1_Frame] {
    var served: [UInt: String] = [:]
    for known in entries.servers { served.merge(known.server.methodPaths) { first, _ in first } }
    let loops = watched.enumerated().map { index, loop in
      "loop \(index + 1): \(loop.names.prefix(Self.mostNames).joined(separator: ", "))"
    }
    return profile.frames(loops: loops) { number in
      if let path = served[number] { return "\(Self.name(path)): handler and interceptors" }
      if let path = Channel.pathOfCalled(number) { return "\(Self.name(path)): callbacks of calls" }
      return "a method that has gone"
    }
  }

  private static let mostNames = 5

  /// `package.Service/Method` of a path.
  private static func name(_ path: String) -> String {
    String(decoding: path.utf8.drop { $0 == UInt8(ascii: "/") }, as: UTF8.self)
  }
}
