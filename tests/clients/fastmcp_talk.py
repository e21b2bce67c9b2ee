"""What a host written with fastmcp does, as JSON."""

from __future__ import annotations

import asyncio
import json
import os
from typing import Any

from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport
from fastmcp.exceptions import ToolError


async def main() -> None:
    headers = {"Authorization": f"Bearer {os.environ['MEMORYHUB_KEY']}"}
    told: dict[str, Any] = {}
    transport = StreamableHttpTransport(f"{os.environ['MEMORYHUB_URL']}/mcp", headers=headers)
    async with Client(transport) as client:
        told["tools"] = [tool.name for tool in await client.list_tools()]
        asked = {"subject": "newcomer", "query": "where she lives"}
        told["newcomer"] = (await client.call_tool("search", asked)).structured_content
        try:
            await client.call_tool("search", {**asked, "limit": 0})
        except ToolError as error:
            told["wrong"] = str(error)
        said = {"subject": "ana", "text": "I live in Lisbon.", "wait": True}
        await client.call_tool("add", said)
        asked = {"subject": "ana", "query": "where does Ana live"}
        told["found"] = (await client.call_tool("search", asked)).structured_content
        told["resources"] = [str(each.uri) for each in await client.list_resources()]
        told["prompts"] = [each.name for each in await client.list_prompts()]
    print(json.dumps(told))


asyncio.run(main())
