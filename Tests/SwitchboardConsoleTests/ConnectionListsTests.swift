import CallTestSupport
import Testing

@testable import SwitchboardConsole
@testable import SwitchboardTransport

/// Lists of many connections, which are not made anew for each answer.
@Suite struct ConnectionListsTests {
  private func connections(_ count: Int) -> [ConnectionSnapshot.Reference] {
    (1...count).map { ConnectionSnapshot.Reference(number: $0, name: "ipv4:10.0.0.1:\($0)") }
  }

  @Test func aLongListHoldsForSomeSeconds() {
    let (lists, time) = (ConnectionLists(), ManualTime())
    lists.keep(connections(10_000), of: 1, at: time.now)
    #expect(lists.list(of: 2, at: time.now) == nil)
    time.advance(by: .milliseconds(9999))
    lists.forgetOld(at: time.now)
    #expect(lists.list(of: 1, at: time.now)?.count == 10_000)
    time.advance(by: .milliseconds(1))
    #expect(lists.list(of: 1, at: time.now) == nil)
  }

  @Test func aShortListIsMadeAnew() {
    let (lists, time) = (ConnectionLists(), ManualTime())
    lists.keep(connections(ConnectionLists.fewest - 1), of: 1, at: time.now)
    #expect(lists.list(of: 1, at: time.now) == nil)
    lists.keep(connections(ConnectionLists.fewest), of: 1, at: time.now)
    #expect(lists.list(of: 1, at: time.now) != nil)
  }
}
