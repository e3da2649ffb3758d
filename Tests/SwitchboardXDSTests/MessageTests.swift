import TestSupport
import Testing

@Suite(.mayBlock, .timeLimit(.minutes(5))) struct MessageTests {
  /// Names, numbers, types, labels and oneofs.
  @Test func theMessagesAreThoseOfEnvoy() throws {
    let peer = try PythonPeer("compare_messages.py", [TestFolders.root.path])
    var lines: [String] = []
    while let line = peer.line() { lines.append(line) }
    peer.stop()
    #expect(lines == ["354 are the same"])
  }
}
