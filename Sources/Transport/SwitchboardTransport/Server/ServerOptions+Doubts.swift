import SwitchboardCall

extension ServerOptions {
  /// Logs what is allowed, and hardly meant, of the pages and of who may call from a browser.
  func reportDoubts(_ methods: RPCMethods) {
    for page in pages {
      guard let doubt = page.doubt(methods, hasWeb: web != nil) else { continue }
      logger.log(
        .warning,
        "a page of a server is hardly what was meant",
        ["page": "\(page.method) \(page.path)", "reason": doubt]
      )
    }
    guard web?.allowsPagesWithoutOrigin ?? false else { return }
    let reason = "any site can make a page without an origin, and may call with it"
    logger.log(
      OptionRemark(of: "origins", reason, sentence: "origins has \"null\": \(reason)"),
      of: "WebOptions"
    )
  }
}
