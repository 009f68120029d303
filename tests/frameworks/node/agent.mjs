// agent.mjs
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import OpenAI from "openai";

const { TRIPWIRE_MCP_URL, TRIPWIRE_MODEL, TRIPWIRE_PROMPT, STREAM } = process.env;
const openai = new OpenAI(); // reads OPENAI_BASE_URL and OPENAI_API_KEY
const mcp = new Client({ name: "agent", version: "1" });
await mcp.connect(new StreamableHTTPClientTransport(new URL(TRIPWIRE_MCP_URL)));

const tools = (await mcp.listTools()).tools.map(({ name, description, inputSchema }) => ({
  type: "function",
  function: { name, description, parameters: inputSchema },
}));

async function ask(messages) {
  const request = { model: TRIPWIRE_MODEL, messages, tools };
  if (STREAM) {
    const counted = { ...request, stream_options: { include_usage: true } };
    return await openai.chat.completions.stream(counted).finalMessage();
  }
  return (await openai.chat.completions.create(request)).choices[0].message;
}

async function use({ id, function: { name, arguments: text } }) {
  const result = await mcp.callTool({ name, arguments: JSON.parse(text) });
  const content = result.content.map((part) => part.text).join("\n");
  return { role: "tool", tool_call_id: id, content };
}

const messages = [{ role: "user", content: TRIPWIRE_PROMPT }];
for (let turn = 0; turn < 30; turn++) {
  const message = await ask(messages);
  messages.push(message);
  if (!message.tool_calls?.length) break;
  messages.push(...(await Promise.all(message.tool_calls.map(use))));
}
console.log(messages.at(-1).content);
await mcp.close();
