// Makes JSON Schemas of request bodies from the types in the vendors' own packages (package.json has the versions). The
// output depends on nothing else and has one definition a line. See ../README.md for what is changed and why.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createGenerator } from 'ts-json-schema-generator';

const jobs = [
  {
    out: 'openai_chat', file: 'openai/resources/chat/completions/completions.d.ts', type: 'ChatCompletionCreateParamsStreaming',
  },
  {
    out: 'openai_compatible', file: 'openai/resources/chat/completions/completions.d.ts', type: 'ChatCompletionCreateParamsStreaming',
    // What compatible servers send in an answer and take back in its echo: DeepSeek and xAI, gateways, Google's endpoint.
    add: { ChatCompletionAssistantMessageParam: { reasoning_content: { type: 'string' }, extra_content: {} } },
  },
  {
    out: 'openai_responses', file: 'openai/resources/responses/responses.d.ts', type: 'ResponseCreateParamsStreaming',
    keep: {
      ResponseInputItem: ['EasyInputMessage', 'ResponseInputItem.Message', 'ResponseOutputMessage', 'ResponseFunctionToolCall', 'ResponseInputItem.FunctionCallOutput', 'ResponseReasoningItem'],
      Tool: ['FunctionTool'],
    },
  },
  {
    out: 'anthropic', file: '@anthropic-ai/sdk/resources/messages/messages.d.ts', type: 'MessageCreateParamsStreaming',
    keep: {
      ContentBlockParam: ['TextBlockParam', 'ImageBlockParam', 'DocumentBlockParam', 'SearchResultBlockParam', 'ThinkingBlockParam', 'RedactedThinkingBlockParam', 'ToolUseBlockParam', 'ToolResultBlockParam'],
      ToolUnion: ['Tool'],
    },
  },
  {
    out: 'mistral', file: '@mistralai/mistralai/esm/models/components/chatcompletionstreamrequest.d.ts', type: 'ChatCompletionStreamRequest$Outbound',
    defaults: ['prefix', 'index', 'type', 'id', 'strict', 'closed'],
  },
  {
    out: 'mistral_ocr', file: '@mistralai/mistralai/esm/models/components/ocrrequest.d.ts', type: 'OCRRequest$Outbound',
    defaults: ['type', 'strict', 'include_blocks'],
  },
  {
    out: 'groq', file: 'groq-sdk/resources/chat/completions.d.ts', type: 'ChatCompletionCreateParamsStreaming',
    // In the service's reference of the endpoint, not in the client's types.
    add: { ChatCompletionCreateParamsStreaming: { stream_options: { type: 'object', properties: { include_usage: { type: 'boolean' } }, additionalProperties: false } } },
  },
  {
    out: 'openrouter', file: '@openrouter/sdk/esm/models/chatrequest.d.ts', type: 'ChatRequest$Outbound',
    keep: { ChatFunctionTool: ['ChatFunctionToolFunction'] }, defaults: ['stream'],
  },
  {
    out: 'ollama', file: 'ollama/dist/browser.d.ts', type: 'ChatRequest', bytes: 'gone',
    // In the server's own ChatRequest, Message and ToolCall (api/types.go), not in the client's types.
    add: {
      ChatRequest: { truncate: { type: 'boolean' }, shift: { type: 'boolean' }, _debug_render_only: { type: 'boolean' } },
      Message: { tool_call_id: { type: 'string' } },
      ToolCall: { id: { type: 'string' } },
      'ToolCall/function': { index: { type: 'number' } },
      'Tool/function': { parameters: { type: 'object' } }, // a JSON Schema, of which the client lists a few words
    },
  },
  {
    out: 'bedrock', file: '@aws-sdk/client-bedrock-runtime/dist-types/models/models_0.d.ts', type: 'ConverseStreamRequest',
    bytes: 'base64', drop: { ConverseStreamRequest: ['modelId'] }, required: '@aws-sdk/client-bedrock-runtime/dist-types/models',
  },
];

for (const job of jobs) {
  const path = `node_modules/${job.file}`;
  const made = createGenerator({ path, type: job.type, skipTypeCheck: true, expose: 'all', jsDoc: 'none', sortProps: true }).createSchema(job.type);
  const definitions = Object.fromEntries(Object.entries(made.definitions).map(([name, d]) => [nameOf(name), clean(d, job)]));
  if (job.required) Object.entries(requiredOf(job.required)).forEach(([name, members]) => require(definitions[name], members));
  const [, vendor, version] = versionOf(job.file);
  write(job.out, `${vendor}@${version}`, nameOf(job.type), definitions);
}

function nameOf(name) {
  return decodeURIComponent(name).replaceAll('$Outbound', '').replace(/[^\w.-]/g, '_');
}

// clean takes off what bears on no request, and what a client makes obligatory only because it fills in defaults.
function clean(node, job) {
  if (Array.isArray(node)) return node.map((n) => clean(n, job));
  if (node === null || typeof node !== 'object') return node;
  const out = {};
  for (const [key, value] of Object.entries(node)) {
    if (typeof value === 'string' && (key === 'description' || key === '$comment')) continue;
    out[key] = key === '$ref' ? '#/definitions/' + nameOf(value.slice('#/definitions/'.length)) : clean(value, job);
  }
  if (Array.isArray(out.required) && job.defaults) out.required = out.required.filter((m) => !job.defaults.includes(m));
  if (out.required?.length === 0) delete out.required;
  return out;
}

function write(out, source, root, definitions) {
  const job = jobs.find((j) => j.out === out);
  for (const [name, kept] of Object.entries(job.keep ?? {})) {
    const all = kept.map((k) => '#/definitions/' + k);
    const found = definitions[name].anyOf.filter((b) => all.includes(b.$ref));
    if (found.length !== all.length) throw new Error(`${out}: ${name} has ${JSON.stringify(definitions[name].anyOf)}`);
    definitions[name].anyOf = found;
  }
  for (const [name, members] of Object.entries(job.add ?? {})) Object.assign(properties(definitions, name), members);
  for (const [name, members] of Object.entries(job.drop ?? {})) {
    for (const m of members) {
      delete properties(definitions, name)[m];
      definitions[name].required = definitions[name].required?.filter((r) => r !== m);
    }
  }
  if (definitions.Uint8Array) definitions.Uint8Array = job.bytes === 'base64' ? { type: 'string', contentEncoding: 'base64' } : false;
  for (const d of Object.values(definitions)) {
    if (d.anyOf) d.anyOf = d.anyOf.filter((b) => !b.$ref?.includes('UnknownMember'));
  }
  const reached = new Set();
  reach('#/definitions/' + root, definitions, reached);
  const lines = [...reached].sort().map((n) => `${JSON.stringify(n)}:${JSON.stringify(definitions[n])}`);
  const head = `"$schema":"http://json-schema.org/draft-07/schema#",\n"$comment":${JSON.stringify('made from ' + source + '; do not edit')},\n"$ref":"#/definitions/${root}"`;
  writeFileSync(`../${out}.json`, `{${head},\n"definitions":{\n${lines.join(',\n')}\n}}\n`);
}

// properties are those of a definition, or of a member of it: "Tool/function".
function properties(definitions, path) {
  const [name, ...members] = path.split('/');
  const at = members.reduce((d, m) => d?.properties?.[m], definitions[name]);
  if (!at?.properties) throw new Error(`there is no object ${path}`);
  return at.properties;
}

function require(definition, members) {
  if (!definition?.properties) return;
  definition.required = members.filter((m) => definition.properties[m]);
  if (definition.required.length === 0) delete definition.required;
}

function reach(ref, definitions, reached) {
  const name = ref.slice('#/definitions/'.length);
  if (reached.has(name)) return;
  if (!(name in definitions)) throw new Error(`${ref} is not defined`);
  reached.add(name);
  JSON.stringify(definitions[name], (key, value) => {
    if (key === '$ref') reach(value, definitions, reached);
    return value;
  });
}

// requiredOf reads which members an AWS interface demands: they stand without a question mark, but may be undefined, which
// hides them from the generator.
function requiredOf(folder) {
  const found = {};
  for (const file of readdirSync(`node_modules/${folder}`).filter((f) => /^models_\d+\.d\.ts$/.test(f))) {
    const text = readFileSync(`node_modules/${folder}/${file}`, 'utf8').replace(/\/\*\*[\s\S]*?\*\//g, '');
    for (const [, name, body] of text.matchAll(/export interface (\w+) \{([\s\S]*?)\n\}/g)) {
      found[name] = [...body.matchAll(/^ {4}(\w+): /gm)].map((m) => m[1]);
    }
  }
  return found;
}

function versionOf(file) {
  const vendor = file.match(/^(@[^/]+\/[^/]+|[^/]+)\//)[1];
  return [file, vendor, JSON.parse(readFileSync(`node_modules/${vendor}/package.json`, 'utf8')).version];
}
