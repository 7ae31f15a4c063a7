-- The statements of serve/mcp/rpc.c. :line is valid JSON.

-- @read: The parts of a message of JSON-RPC; NULL where it lacks one. The id as JSON, of which each string has one form.
SELECT
    json_type(:line) AS type,
    json_type(:line, '$.jsonrpc') IS 'text' AND :line ->> '$.jsonrpc' = '2.0' AS is_version_2,
    json_type(:line, '$.id') AS id_type,
    iif(json_type(:line, '$.id') IS 'text', json_quote(:line ->> '$.id'), :line -> '$.id') AS id,
    json_type(:line, '$.method') AS method_type,
    :line ->> '$.method' AS method,
    json_type(:line, '$.params') AS params_type,
    json_type(:line, '$.result') IS NOT NULL OR json_type(:line, '$.error') IS NOT NULL AS is_answer,
    json_type(:line, '$.params._meta."io.modelcontextprotocol/protocolVersion"') AS asked_type,
    :line ->> '$.params._meta."io.modelcontextprotocol/protocolVersion"' AS asked_version,
    json_type(:line, '$.params._meta."io.modelcontextprotocol/clientCapabilities"') AS abilities_type,
    CASE json_type(:line, '$.params.requestId')
        WHEN 'text' THEN json_quote(:line ->> '$.params.requestId')
        WHEN 'integer' THEN :line -> '$.params.requestId'
    END AS cancelled
