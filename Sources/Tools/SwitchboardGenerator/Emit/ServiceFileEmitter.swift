/// Writes the file with the services of one `.proto` file.
struct ServiceFileEmitter {
  let context: FileContext

  /// The source text.
  func emit() throws(GeneratorError) -> String {
    var printer = Printer()
    var reflection = context.options.generatesReflectionData ? context.reflectionLines : []
    let services = context.file.services.map { ($0, MethodCode.all(of: $0, in: context)) }
    FileHeader(context: context)
      .emit(importing: importedModules(by: services.flatMap(\.1)), checking: libraryModule, to: &printer)
    for (service, methods) in services {
      if context.options.testClientModule == nil {
        ServiceMetadataEmitter(context: context, service: service, methods: methods, reflection: reflection)
          .emit(to: &printer)
      }
      // The first service of a file holds the data for reflection; the others refer to it.
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

  /// The library, the modules of messages defined elsewhere, and the modules that mappings name.
  private func importedModules(by methods: [MethodCode]) -> Set<String> {
    var modules: Set<String> = [libraryModule]
    if context.options.generatesTestClients { modules.insert(testingModule) }
    for method in methods {
      let uses = [
        (method.schema.request, method.requestPayload), (method.schema.response, method.responsePayload),
      ]
      for (message, payload) in uses {
        if let payload { modules.formUnion(payload.modules) }
        guard payload?.swiftType == nil else { continue }
        let module = context.schema.files[context.schema.messages[message].file].module
        if let module, module != context.file.module { modules.insert(module) }
      }
    }
    return modules
  }
}
