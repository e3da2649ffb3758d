/// Writes the file with the services of one `.proto` file.
struct ServiceFileEmitter {
  let context: FileContext

  /// The source text.
  func emit() throws(GeneratorError) -> String {
    var printer = Printer()
    var reflection = context.options.generatesReflectionData ? try context.reflectionLines : []
    FileHeader(context: context).emit(importing: importedModules, to: &printer)
    for service in context.file.services {
      let methods = MethodCode.all(of: service, in: context)
      ServiceMetadataEmitter(context: context, service: service, methods: methods, reflection: reflection)
        .emit(to: &printer)
      // The first service of a file holds what reflection needs, and the others refer to it.
      if reflection.count > 1 { reflection = ["\(service.swiftName)Metadata.reflectionData"] }
      if context.options.generatesClients {
        ServiceClientEmitter(context: context, service: service, methods: methods).emit(to: &printer)
      }
      if context.options.generatesTestClients {
        ServiceTestClientEmitter(context: context, service: service, methods: methods).emit(to: &printer)
      }
      if context.options.generatesServers {
        ServiceProviderEmitter(context: context, service: service, methods: methods).emit(to: &printer)
      }
    }
    return printer.text
  }

  /// The library, and the modules of messages that are defined elsewhere.
  private var importedModules: Set<String> {
    var modules: Set<String> = [libraryModule]
    for method in context.file.services.flatMap(\.methods) {
      for message in [method.request, method.response] {
        let module = context.schema.files[context.schema.messages[message].file].module
        if let module, module != context.file.module { modules.insert(module) }
      }
    }
    return modules
  }
}
