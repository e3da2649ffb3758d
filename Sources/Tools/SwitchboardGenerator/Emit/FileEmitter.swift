/// Writes the file with the messages, enums and extensions of one `.proto` file.
struct FileEmitter {
  let context: FileContext

  /// The source text.
  func emit() -> String {
    var printer = Printer()
    FileHeader(context: context)
      .emit(importing: context.importedModules.union([runtimeModule]), checking: runtimeModule, to: &printer)
    for index in context.file.enums {
      EnumEmitter(context: context, schema: context.schema.enums[index]).emit(to: &printer)
    }
    for index in context.file.messages {
      MessageEmitter(context: context, message: context.schema.messages[index]).emit(to: &printer)
    }
    ExtensionEmitter(context: context).emit(to: &printer)
    return printer.text
  }
}
