import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

@Suite struct HeadSizeTests {
  @Test func aHeadMayHaveItsLimit() {
    var size = HeadSize(limit: 10)
    #expect(size.add(4) && size.hasRoom(for: 6) && !size.hasRoom(for: 7))
    #expect(size.add(6) && !size.isExceeded)
    #expect(!size.add(1) && size.isExceeded)
  }

  @Test func aPathIsKeptUpToTheLimit() {
    let size = HeadSize(limit: 3)
    let path: [UInt8] = [1, 2, 3, 4]
    #expect(path.withUnsafeBufferPointer { size.kept($0) } == [1, 2, 3])
  }
}
