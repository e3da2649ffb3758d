import TestSupport
import Testing

/// OpenSSL's allocator, which an application may set for its process.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct TLSMemoryTests {
  @Test func theAllocatorIsSetAtTheStart() throws {
    let subject = try ChildProcess.faultSubject(["openssl", "early"])
    #expect(subject.allOutput() == "set\n")
    #expect(subject.exitCode() == 0)
  }

  /// OpenSSL was used before, or has the allocator of someone else.
  @Test(arguments: ["late", "taken"]) func itIsRefusedWhenItIsTooLate(_ when: String) throws {
    let subject = try ChildProcess.faultSubject(["openssl", when])
    let output = subject.allOutput()
    #expect(output.contains("OpenSSL's allocator can no longer be set"), "\(output)")
    #expect(output.contains("taken: 1") == (when == "taken"))
    #expect(subject.exitCode() == 1)
  }
}
