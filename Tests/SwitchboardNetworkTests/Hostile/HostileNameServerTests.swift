import HTTP2TestSupport
import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardNetwork

/// Name servers that answer anything.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct HostileNameServerTests {
  /// Noise, and answers of which some bytes are changed or missing.
  @Test func anyAnswerEndsTheLookup() async throws {
    let seeds = Locked(SplitMix(state: 14))
    @Sendable func garble(_ query: DNSBytes, _ answer: [UInt8]) -> [UInt8] {
      seeds.withLock { random in
        var bytes = answer
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
          bytes =
            query.query.prefix(2)
            + (0..<Int.random(in: 0..<600, using: &random)).map { _ in .random(in: 0...255, using: &random) }
        case 1:
          bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random))
        default:
          for _ in 0..<Int.random(in: 1..<6, using: &random) {
            // Not the header's identifier, which would only be ignored.
            bytes[.random(in: 2..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
          }
        }
        return bytes
      }
    }
    let server = try ScriptedNameServer { query in
      // Sometimes on a stream.
      query.query[0] < 64 ? [query.cutOff] : [garble(query, query.varied)]
    } stream: { query in
      DNSBytes.framed(garble(query, query.varied))
    }
    let lookups = try NameLookups(server.authority, timeout: .milliseconds(700))
    for _ in 0..<4 {
      await withTaskGroup { group in
        for number in 0..<250 {
          group.addTask {
            _ = await lookups.addresses(of: "host\(number).test")
            _ = await lookups.texts(of: "host\(number).test")
          }
        }
      }
    }
    await lookups.untilIdle()
    #expect(server.queries.value > 2000)
  }

  @Test func noiseBeforeTheAnswerIsIgnored() async throws {
    let server = try ScriptedNameServer { query in
      // Of no use; of another query; not whole; empty.
      let others: [[UInt8]] = [
        [1, 2, 3], [255 - query.query[0]] + query.oneAddress.dropFirst(), query.oneAddress.dropLast(3), [],
      ]
      return others + [query.oneAddress]
    }
    let lookups = try NameLookups(server.authority)
    #expect(try await lookups.addresses(of: "one.test").get().addresses.count == 2)
  }

  /// The loop does other work in between.
  @Test func aFloodOfDatagramsDoesNotBlockTheLoop() async throws {
    let isOver = Locked(false)
    let server = try ScriptedNameServer { query in
      isOver.withLock { $0 }
        ? [query.oneAddress] : Array(repeating: query.oneAddress.dropLast(), count: 20_000)
    }
    let lookups = try NameLookups(server.authority, timeout: .seconds(60))
    let answer = Task { await lookups.addresses(of: "one.test") }
    await lookups.loop.until { server.queries.value > 0 }
    for _ in 0..<100 { await lookups.loop.onLoop {} }
    isOver.withLock { $0 = true }
    #expect(try await answer.value.get().addresses.count > 0)
  }

  /// A name that refers to a place before itself, fifty times over: c-ares would make a megabyte of it for each of
  /// thousands of records.
  @Test func growingNamesAreRejected() async throws {
    let server = try ScriptedNameServer {
      [$0.cutOff]
    } stream: { query in
      let label: [UInt8] = [63] + [UInt8](repeating: 1, count: 63)
      let filler = Array(repeating: label, count: 240).joined() + [0xc0, 0]
      var message = query.answer([DNSBytes.record(16, Array(filler))])
      let start = message.count - filler.count
      message[message.count - 1] = UInt8(start & 255)
      message[message.count - 2] = 0xc0 | UInt8(start >> 8)
      let name: [UInt8] = [0xc0 | UInt8(start >> 8), UInt8(start & 255)]
      let records = Array(repeating: DNSBytes.record(query.type, [127, 0, 0, 1], of: name), count: 3000)
      message += records.joined()
      message[6] = UInt8((records.count + 1) >> 8)
      message[7] = UInt8((records.count + 1) & 255)
      return DNSBytes.framed(message)
    }
    let lookups = try NameLookups(server.authority)
    let clock = ContinuousClock.now
    #expect(
      await lookups.failure(of: "one.test")
        == "one.test was not found: the name service \(server.authority) cannot be reached, or reported a failure"
    )
    #expect(ContinuousClock.now - clock < .seconds(10))
  }

  /// As many addresses as an answer has room for.
  @Test func endlessAddressesAreCutOff() async throws {
    let server = try ScriptedNameServer {
      [$0.cutOff]
    } stream: { query in
      let size = query.type == DNSBytes.a ? 4 : 16
      let count = (65_535 - query.answer([]).count) / (12 + size)
      let records = (0..<count).map { number in
        DNSBytes.record(
          query.type,
          [UInt8](repeating: 127, count: size - 2) + [UInt8(number >> 8), UInt8(number & 255)]
        )
      }
      return DNSBytes.framed(query.answer(records))
    }
    let lookups = try NameLookups(server.authority)
    let answer = try await lookups.addresses(of: "many.test").get()
    #expect(answer.addresses.count == 2 * NameMessage.maxAnswers)
    #expect(Set(answer.addresses).count == 2 * NameMessage.maxAnswers)
  }

  @Test func aStreamThatEndsOrStallsEndsTheLookup() async throws {
    for answer in [nil, [], [0], [0, 40, 1, 2], [0, 0], [255, 255, 1]] as [[UInt8]?] {
      let server = try ScriptedNameServer {
        [$0.cutOff]
      } stream: { _ in
        answer
      }
      let lookups = try NameLookups(server.authority, timeout: .milliseconds(400))
      #expect(
        await lookups.failure(of: "one.test")?.hasPrefix("one.test was not found: the name service") == true
      )
      await lookups.untilIdle()
    }
  }

  /// Lifetimes with a sign mean none.
  @Test func aNegativeLifetimeIsZero() async throws {
    let server = try ScriptedNameServer { query in
      [
        query.answer([
          DNSBytes.record(
            query.type,
            [UInt8](repeating: 127, count: query.type == 1 ? 4 : 16),
            lifetime: .max
          )
        ])
      ]
    }
    let lookups = try NameLookups(server.authority)
    #expect(try await lookups.addresses(of: "one.test").get().timeToLive == .zero)
  }

  /// The same numbers in every run.
  private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9e37_79b9_7f4a_7c15
      var mixed = (state ^ (state >> 30)) &* 0xbf58_476d_1ce4_e5b9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
      return mixed ^ (mixed >> 31)
    }
  }
}

extension DNSBytes {
  /// An alias, an address and a text, whatever was asked for.
  fileprivate var varied: [UInt8] {
    answer([
      Self.record(Self.alias, [1, UInt8(ascii: "b"), 0xc0, 12]),
      Self.record(type, [UInt8](repeating: 127, count: type == Self.aaaa ? 16 : 4)),
      Self.record(16, [3, 97, 98, 99, 2, 100, 101]),
    ])
  }
}
