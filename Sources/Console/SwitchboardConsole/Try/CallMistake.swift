import ConsoleMessages

/// Why a call cannot be made, or go on.
struct CallMistake: Error {
  let text: String
  /// Which of the requests it is about, from 1; zero if it is about none.
  let request: Int

  init(_ text: String, request: Int = 0) { (self.text, self.request) = (text, request) }

  /// The answer that says so.
  var view: Switchboard_Console_V1_CallView {
    .with { view in
      view.mistake = .with { ($0.text, $0.request) = (text, UInt32(request)) }
    }
  }
}
