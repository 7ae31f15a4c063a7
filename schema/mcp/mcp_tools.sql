-- The statements of serve/mcp/mcp_tools.c. :line is a message with valid JSON.

-- @arguments: What a client gave for the arguments of a tool.
SELECT key, type, atom AS value
FROM json_each(:line, '$.params.arguments')

-- @items: What stands in the array or object that is the argument :name.
SELECT item.key, item.type, item.atom AS value
FROM json_each(:line, '$.params.arguments') AS argument
JOIN json_each(argument.value) AS item
WHERE argument.key = :name
