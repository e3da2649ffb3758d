#if os(Linux)
  import Foundation
  import TestSupport
  import Testing

  /// Who does not import SwitchboardXDS does not pay for it.
  @Suite struct LinkedLibraryTests {
    @Test func aProgramWithoutXDSLinksNoRE2() throws {
      let program = try Data(contentsOf: URL(filePath: Command.path(ofProduct: "Echo")))
      #expect(program.range(of: Data("libnghttp2.so".utf8)) != nil)
      #expect(program.range(of: Data("libre2.so".utf8)) == nil)
    }
  }
#endif
