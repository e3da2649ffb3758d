import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

@Suite struct PeerTextTests {
  @Test(arguments: [
    ("", ""), ("plain, with ümlauts and \u{1F600}", "plain, with ümlauts and \u{1F600}"),
    ("a\tb\nc", "a\tb\nc"),
    ("a\r\nb\r\n", "a\r\nb\r\n"), ("a\rb\r", "a\u{fffd}b\u{fffd}"), ("\u{1b}[2J", "\u{fffd}[2J"),
    ("\u{9b}31m", "\u{fffd}31m"), ("\u{80}\u{9f}\u{a0}", "\u{fffd}\u{fffd}\u{a0}"),
    ("\u{7f}\u{8}\0", "\u{fffd}\u{fffd}\u{fffd}"),
    ("\u{1}\u{301}", "\u{fffd}\u{301}"),
  ])
  func controlCharactersAreReplaced(_ sample: (text: String, harmless: String)) {
    #expect(Array(PeerText.harmless(sample.text).utf8) == Array(sample.harmless.utf8))
    #expect(PeerText.harmless(Array(sample.text.utf8)) == sample.harmless)
  }
}
