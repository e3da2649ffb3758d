import Testing

@testable import Interop

struct ArgumentsTests {
  @Test func flagsOfOtherImplementationsAreAccepted() throws {
    let arguments = try Arguments([
      "client", "--server_host=example.org", "--server_port", "4711", "--use_tls", "--use_test_ca=FALSE",
      "--test_case=large_unary", "--additional_metadata=a:b;c:d:e",
    ])
    #expect(arguments.mode == .client)
    #expect(arguments.string("server_host") == "example.org")
    #expect(arguments.number("server_port") == 4711)
    #expect(arguments.isSet("use_tls"))
    #expect(!arguments.isSet("use_test_ca"))
    #expect(try arguments.testCase == .largeUnary)
    #expect(try arguments.additionalMetadata.map { [$0.0, $0.1] } == [["a", "b"], ["c", "d:e"]])
    #expect(try Arguments(["server", "--use_tls", "false", "--port=0"]).isSet("use_tls") == false)
    #expect(try Arguments(["--help"]).mode == nil)
    #expect(try Arguments([]).mode == nil)
  }

  @Test(arguments: [
    ["both"], ["client", "large_unary"], ["client", "--nonsense=1"], ["client", "--server_port"],
    ["client", "--server_port=x"], ["client", "--server_port=-1"], ["client", "--use_tls=maybe"],
  ])
  func invalidArgumentsAreRejected(_ words: [String]) {
    #expect(throws: Arguments.UsageError.self) { try Arguments(words) }
  }

  @Test func missingAndMalformedArgumentsAreUsageErrors() throws {
    #expect(throws: Arguments.UsageError.self) { try Arguments(["client"]).testCase }
    #expect(throws: Arguments.UsageError.self) { try Arguments(["client", "--test_case=x"]).testCase }
    #expect(throws: Arguments.UsageError.self) {
      try Arguments(["client", "--additional_metadata=a"]).additionalMetadata
    }
    #expect(throws: Arguments.UsageError.self) {
      try Arguments(["server", "--use_tls", "--tls_cert_file=a"]).serverTLS
    }
  }

  @Test func everyCaseIsNamedInTheHelp() {
    for test in TestCase.allCases {
      #expect(
        Arguments.help.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.contains { $0 == test.rawValue }
      )
    }
  }
}
