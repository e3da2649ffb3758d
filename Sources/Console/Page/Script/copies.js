// A call as a line for a shell, or as Swift.

// A word that a shell passes on as it is.
const word = (text) => (/^[A-Za-z0-9_./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

// Requests without blanks, in JSON that has no characters that control a terminal. What is no JSON stays.
function compactJSON(text) {
  try { return writeJSON(readJSON(text)); } catch { return text; }
}

// The way of `request`: { target, method, headers, timeout, requests }.
const copies = {
  command: {
    title: "switchboard call",
    text(request) {
      if (!request.target.address) return { problem: "the console does not know where other programs can call it" };
      const words = ["switchboard", "call", request.target.address, request.method.name];
      if (request.target.usesTls) words.push("--tls");
      if (request.timeout) words.push("-t", `${request.timeout}s`);
      for (const { name, value } of request.headers) words.push("-H", `${name}: ${value}`);
      const data = request.requests.map(compactJSON);
      if (data.length) words.push("-d", data.join("\n"));
      return { text: words.map(word).join(" ") };
    },
  },
  curl: {
    title: "curl",
    text(request) {
      if (request.method.noCurl) return { problem: request.method.noCurl };
      const { address, usesTls } = request.target;
      if (!address || /^unix/.test(address)) return { problem: "the console does not know an address that curl can call" };
      const words = ["curl", `${usesTls ? "https" : "http"}://${address}/${request.method.name}`, "-H", "content-type: application/json"];
      if (request.timeout) words.push("-H", `connect-timeout-ms: ${Math.ceil(request.timeout * 1000)}`);
      // To curl, a header without a value is one that it should not send, unless a semicolon ends it.
      for (const { name, value } of request.headers) words.push("-H", value === "" ? `${name};` : `${name}: ${value}`);
      words.push("--data-raw", compactJSON(request.requests[0] ?? "{}"));
      return { text: words.map(word).join(" ") };
    },
  },
  swift: {
    title: "Swift",
    text(request) {
      if (!request.method.swiftCall) return { problem: "its messages are not of a generated type" };
      const lines = request.requests.map((text) => `try ${request.method.swiftRequest}(jsonString: ${swiftText(compactJSON(text))})`);
      const options = [];
      for (const { name, value } of request.headers) options.push(`options.initialMetadata.add(name: ${swiftText(name)}, value: ${swiftText(value)})`);
      if (request.timeout) options.push(`options.timeout = .seconds(${request.timeout})`);
      const before = options.length ? `var options = CallOptions()\n${options.join("\n")}\n` : "";
      const given = options.length ? ", callOptions: options" : "";
      const { streamsRequests, streamsResponses, swiftCall } = request.method;
      const requests = streamsRequests ? `[\n${lines.map((line) => `  ${line},\n`).join("")}]` : lines[0] ?? `${request.method.swiftRequest}()`;
      const text = streamsResponses
        ? `for try await response in ${swiftCall}(${requests}${given}) { print(response) }`
        : `let response = try await ${swiftCall}(${requests}${given})`;
      return { text: `${before}${text}` };
    },
  },
};

// A literal of Swift.
function swiftText(text) {
  let marks = text.includes("\\") || text.includes('"') ? "#" : "";
  while (marks && (text.includes(`"${marks}`) || text.includes(`\\${marks}`))) marks += "#";
  return `${marks}"${text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, (found) => `\\${marks}u{${found.codePointAt(0).toString(16)}}`)}"${marks}`;
}
