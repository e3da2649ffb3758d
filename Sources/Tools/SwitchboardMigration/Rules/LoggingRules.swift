/// Loggers: Switchboard's, and swift-log's.
enum LoggingRules {
  static let all = levels + types

  private static let levels: [Rule] = [
    ("trace", "trace"), ("debug", "debug"), ("info", "info"), ("notice", "info"), ("warning", "warning"),
    ("error", "error"), ("critical", "error"),
  ].flatMap { level, here in
    [
      Rule.change("context.logger.\(level)($message)", to: "context.logger.log(.\(here), $message)"),
      .change(
        "context.logger.\(level)($message, metadata: $metadata)",
        to: "context.logger.log(.\(here), $message, $metadata)",
        if: .isStrings("metadata")
      ),
      .advise(
        "context.logger.\(level)",
        "Use context.logger.log(.\(here), \"text\", [\"key\": \"value\"])."
      ),
    ]
  }

  private static let types: [Rule] = [
    .change(
      "Logger",
      to: "Logging.Logger",
      if: .imports("Logging"),
      because: "Switchboard has a Logger of its own"
    ),
    .advise(
      "backgroundActivityLogger",
      "Use 'logger' of ChannelOptions or ServerOptions, a Logger of this package (for swift-log's: docs/guide/Telemetry.md, 'Bridges')."
    ),
  ]
}
